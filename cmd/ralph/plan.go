package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
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

// planEnded is how a command of a plan ends that is no run: a mistake exits 2, a lock that someone holds and
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

type planApprove struct {
	IDs []string `arg:"" name:"id" help:"The stories."`
	planFlags
}

// Help implements kong.HelpProvider.
func (c *planApprove) Help() string {
	return "An approved story is not reviewed again, and every view of the plan shows who approved it. " +
		"Approvals that are only in the plan's file, and in no record, do not count: a run reviews those stories."
}

// Run implements ralph plan approve.
func (c *planApprove) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Approve(ctx, c.IDs))
}

type planArchive struct {
	planFlags
	Label string `placeholder:"LABEL" help:"What the archive is called, after the date. Default: the plan's branch."`
}

// Run implements ralph plan archive.
func (c *planArchive) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Archive(ctx, c.Label))
}

type planInit struct {
	planFlags
	Name string `placeholder:"NAME" help:"The feature: the branch of the plan is ralph/NAME. Default: the branch named in the plan."`
}

// Run implements ralph plan init.
func (c *planInit) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Init(ctx, c.Name))
}

type planSkill struct {
	ProjectDir string `name:"dir" aliases:"project-dir" short:"d" placeholder:"PATH" help:"The project. Default: the current directory."`
	Plugin     string `placeholder:"DIR" help:"Write a plugin for Claude Code into DIR instead: the skill, ralph's hooks, the templates, a marketplace."`
	Force      bool   `help:"Replace what is there."`
}

// Run implements ralph plan skill.
func (c *planSkill) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := planFlags{ProjectDir: c.ProjectDir, RalphDir: "ralph"}.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	if c.Plugin != "" {
		return planEnded(plans.Plugin(below(p.dir, c.Plugin), c.Force))
	}
	return planEnded(plans.Skill(ctx, c.Force))
}

type planStatus struct {
	planFlags
	JSON    bool `name:"json" xor:"form" help:"Print it as one JSON object."`
	Mermaid bool `xor:"form" help:"Print the stories and what they depend on as a graph of Mermaid."`
}

// Run implements ralph plan status.
func (c *planStatus) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	st, err := plans.Look(ctx)
	if err != nil {
		return planEnded(err)
	}
	text := ""
	switch {
	case c.JSON:
		text = string(plainJSON(st))
	case c.Mermaid:
		text = safetext.InertLines(st.Mermaid())
	default:
		text = safetext.InertLines(st.Text())
	}
	_, err = io.WriteString(p.out, text)
	return err
}

type planValidate struct {
	File string `arg:"" optional:"" help:"A tasks.json. Default: the plan of the project."`
	planFlags
	Before     string `placeholder:"FILE" help:"Instead of one plan: as it was before an iteration."`
	After      string `placeholder:"FILE" help:"As it is after it."`
	Mode       string `placeholder:"MODE" help:"What the iteration was for: implement, review or review-fix."`
	Story      string `placeholder:"ID" help:"The story that the iteration was for. Default: the one whose review fields changed."`
	ReviewCap  int    `default:"5" placeholder:"N" help:"How many reviews a story may take. Default: 5."`
	SkipReview bool   `help:"By the rules of a run without reviews."`
	JSON       bool   `name:"json" help:"Print JSON for programs: whether it is legal, and every violation."`
}

// Run implements ralph plan validate: exit code 0 for what is legal, 1 for what is not, 2 for what cannot be examined.
func (c *planValidate) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	if c.ReviewCap < 1 {
		return &endedError{loop.Invalid.ExitCode(),
			fmt.Errorf("invalid --review-cap \"%d\": must be a whole number from 1", c.ReviewCap)}
	}
	found, err := plans.Validate(ctx, planrun.Validation{
		File: c.File, Before: c.Before, After: c.After, Mode: plan.Mode(c.Mode), Story: c.Story, SkipReview: c.SkipReview,
		ReviewCap: c.ReviewCap,
	})
	if err != nil {
		return planEnded(err)
	}
	text := safetext.InertLines(found.Text())
	if c.JSON {
		text = string(plainJSON(found))
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		return err
	}
	if !found.Legal {
		return &endedError{loop.Failed.ExitCode(), nil}
	}
	return nil
}
