package main

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/session"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

type planCommand struct {
	Init     planInit     `cmd:"" help:"Begin a plan: write ralph/prd.md, tasks.json, progress.txt and prompt.md from templates."`
	Derive   planDerive   `cmd:"" help:"Let the agent write the plan: from an issue, from ralph/prd.md, or from what you answer to its questions."`
	Status   planStatus   `cmd:"" help:"Show the stories of the plan, how far each has come, and what is next."`
	Run      planRun      `cmd:"" help:"Run the plan: implement, review and fix story by story until all of them are approved."`
	Approve  planApprove  `cmd:"" help:"Approve stories of the plan yourself: they are marked so, and not reviewed."`
	Validate planValidate `cmd:"" help:"Validate a plan, or a change of one against what a mode allows."`
	Archive  planArchive  `cmd:"" help:"Put the plan away under ralph-archive, with a summary, and begin a new one."`
	Skill    planSkill    `cmd:"" help:"Write the skill /ralph-plan for Claude Code into .claude, or a plugin of it."`
}

// planFlags say where a plan is.
type planFlags struct {
	ProjectDir string `name:"dir" aliases:"project-dir" short:"d" placeholder:"PATH" help:"The project. Default: the current directory."`
	RalphDir   string `default:"ralph" placeholder:"PATH" help:"The plan's directory in it. Default: ralph."`
}

// plans is the plan that the flags name. Its error is a mistake.
func (f planFlags) plans(p process, out, stderr io.Writer) (*planrun.Plans, error) {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return nil, &endedError{loop.Invalid.ExitCode(), err}
	}
	none := config.Layer{Name: "flags", JSON: []byte("{}")}
	seat := session.Session{Env: env, Parent: p.environ, Dir: below(p.dir, f.ProjectDir), Out: out, Err: stderr,
		Clock: now, Flags: none}
	return &planrun.Plans{Session: seat, RalphDir: f.RalphDir}, nil
}

// below is a path as it is seen from a directory; an empty one is the directory.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// planEnded is how a command of a plan ends that is no run: a mistake exits 2, a lock that somebody holds and
// everything else 1.
func planEnded(err error) error {
	switch {
	case errors.Is(err, session.ErrAborted):
		return &endedError{loop.Interrupted.ExitCode(), err}
	case err != nil && invalid.Is(err):
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return err
}
