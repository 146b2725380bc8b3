package main

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/session"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type initCommand struct {
	Agent     string   `placeholder:"NAME" help:"The coding agent to write. Default: one that is installed here and logged in."`
	Check     []string `placeholder:"COMMAND" sep:"none" help:"A command that judges the work, in place of what is found here. Repeatable."`
	Setup     *string  `placeholder:"COMMAND" help:"What installs the dependencies, in place of what is found here; empty for nothing."`
	Yes       bool     `short:"y" help:"Ask nothing: write what is found here. With --github: do it without asking."`
	Overwrite bool     `help:"Replace existing settings without asking."`
	GitHub    bool     `name:"github" help:"Put into the repository on GitHub what ralph needs there instead: its labels, and by a pull request its workflow. The token is read from GITHUB_TOKEN or GH_TOKEN."`
	Repo      string   `placeholder:"OWNER/NAME" help:"With --github: the repository. Default: GITHUB_REPOSITORY, or where the clone came from."`
}

// Run implements ralph init. Whatever keeps the settings from being written is exit code 2, but 130 when the answers
// end early.
func (c initCommand) Run(ctx context.Context, p process) error {
	terminal := p.in != nil && term.IsTerminal(int(p.in.Fd()))
	if err := c.possible(terminal); err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	switch err := c.begin(ctx, env, p); {
	case errors.Is(err, session.ErrAborted), err != nil && ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), err}
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return nil
}

// possible says what keeps it from beginning.
func (c initCommand) possible(terminal bool) error {
	switch {
	case !c.GitHub && c.Repo != "":
		return errors.New("flag --repo goes with --github; without that, ralph init writes the settings of this directory")
	case c.GitHub && (c.Agent != "" || len(c.Check) > 0 || c.Setup != nil || c.Overwrite):
		return errors.New("flags --agent, --check, --setup and --overwrite are for the settings of this directory, and " +
			"--github is for the repository on GitHub; run ralph init twice")
	case c.GitHub && !c.Yes && !terminal:
		return errors.New("ralph init --github asks before it writes, and standard input is not a terminal; run it in one, or pass --yes")
	case !c.GitHub && !c.Yes && !terminal:
		return errors.New("ralph init asks questions, and standard input is not a terminal; run it in one, pass --yes to write what is found here, or write " + config.SettingsFile +
			" yourself (ralph settings schema prints its schema)")
	}
	return nil
}

func (c initCommand) begin(ctx context.Context, env config.Environment, p process) error {
	if !c.GitHub {
		return (&doctor.Init{Env: env, Parent: p.environ, Dir: p.dir, In: p.in, Out: p.out, Yes: c.Yes,
			Overwrite: c.Overwrite, Given: doctor.Given{Agent: c.Agent, Checks: c.Check, Setup: c.Setup}}).Run(ctx)
	}
	i := &doctor.GitHubInit{Env: env, Parent: p.environ, Dir: p.dir, Repo: c.Repo, Out: p.out}
	if !c.Yes {
		i.In = p.in
	}
	return i.Run(ctx)
}
