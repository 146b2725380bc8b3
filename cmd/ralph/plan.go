package main

import (
	"context"
	"io"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/derive"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
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

// plans is the plan that the flags name.
func (f planFlags) plans(p process, s session.Session, stderr io.Writer) *planrun.Plans {
	s.Dir, s.Err, s.Flags = p.path(f.ProjectDir), stderr, setBy(struct{}{}, nil)
	return &planrun.Plans{Session: s, RalphDir: f.RalphDir}
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
func (c *planApprove) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	return c.plans(p, s, stderr).Approve(ctx, c.IDs)
}

type planArchive struct {
	planFlags
	Label string `placeholder:"LABEL" help:"What the archive is called, after the date. Default: the plan's branch."`
}

// Run implements ralph plan archive.
func (c *planArchive) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	return c.plans(p, s, stderr).Archive(ctx, c.Label)
}

type planDerive struct {
	planFlags
	agentFlags
	From    string `placeholder:"FILE|NUMBER" help:"An issue: a Markdown file, or the number of an issue of this repository (needs GITHUB_TOKEN). Default: ralph/prd.md, or what you answer at the terminal."`
	Verbose bool   `short:"V" help:"Verbose logging on standard error."`
	JSON    bool   `name:"json" help:"Print what was written as JSON on standard output, and everything else on standard error."`
}

// Run implements ralph plan derive.
func (c *planDerive) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	if c.JSON {
		s.Out = stderr
	}
	plans := c.plans(p, s, stderr)
	plans.Flags, plans.Verbose = setBy(c, nil), c.Verbose
	d := derive.Derivation{From: c.From}
	if p.terminal() && isTerminal(s.Out) {
		d.In = p.in
	}
	found, err := derive.Derive(ctx, plans, d)
	switch {
	case err != nil && ctx.Err() != nil:
		return session.ErrAborted
	case err == nil && c.JSON:
		_, err = p.out.Write(plainJSON(found))
	}
	return err
}

type planInit struct {
	planFlags
	Name string `placeholder:"NAME" help:"The feature: the branch of the plan is ralph/NAME. Default: the branch named in the plan."`
}

// Run implements ralph plan init.
func (c *planInit) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	return c.plans(p, s, stderr).Init(ctx, c.Name)
}

type planSkill struct {
	ProjectDir string `name:"dir" aliases:"project-dir" short:"d" placeholder:"PATH" help:"The project. Default: the current directory."`
	Plugin     string `placeholder:"DIR" help:"Write a plugin for Claude Code into DIR instead: the skill, ralph's hooks, the templates, a marketplace."`
	Force      bool   `help:"Replace what is there."`
}

// Run implements ralph plan skill.
func (c *planSkill) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	plans := planFlags{ProjectDir: c.ProjectDir, RalphDir: "ralph"}.plans(p, s, stderr)
	if c.Plugin != "" {
		return plans.Plugin(p.path(c.Plugin), c.Force)
	}
	return plans.Skill(ctx, c.Force)
}

type planStatus struct {
	planFlags
	JSON    bool `name:"json" xor:"form" help:"Print it as one JSON object."`
	Mermaid bool `xor:"form" help:"Print the stories and what they depend on as a graph of Mermaid."`
}

// Run implements ralph plan status.
func (c *planStatus) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	st, err := c.plans(p, s, stderr).Look(ctx)
	if err != nil {
		return err
	}
	text := st.Text()
	if c.Mermaid {
		text = st.Mermaid()
	}
	return p.print(c.JSON, st, text)
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
func (c *planValidate) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	plans := c.plans(p, s, stderr)
	if c.ReviewCap < 1 {
		return invalid.Errorf("invalid --review-cap \"%d\": must be a whole number from 1", c.ReviewCap)
	}
	found, err := plans.Validate(ctx, planrun.Validation{
		File: c.File, Before: c.Before, After: c.After, Mode: plan.Mode(c.Mode), Story: c.Story, SkipReview: c.SkipReview,
		ReviewCap: c.ReviewCap,
	})
	if err != nil {
		return err
	}
	if err := p.print(c.JSON, found, found.Text()); err != nil {
		return err
	}
	if !found.Legal {
		return &endedError{loop.Failed.ExitCode(), nil}
	}
	return nil
}

type planRun struct {
	planFlags
	runFlags
	Sandbox   bool `xor:"sandbox" help:"Refuse to run without a sandbox that holds."`
	NoSandbox bool `xor:"sandbox" help:"Run without a sandbox."`
	ReviewCap *int `placeholder:"N" setting:"reviewCap" help:"{reviewCap} Default: 5."`
	FailAtCap bool `help:"Fail when a story's last review does not approve it, rather than approve it marked so. The same as the setting atReviewCap: fail."`
}

// Help implements kong.HelpProvider.
func (c *planRun) Help() string {
	return "Each iteration is a fresh context that works on one story: it implements it, reviews what another one did, " +
		"or fixes what a review asked for. " +
		"Nothing passes that no review has approved; with --skip-review, an iteration that implements a story sets it to passed itself. " +
		"A story takes two iterations at least.\n\n" +
		"A plan has one run at a time; several plans can run at once in one clone. " +
		"Every run needs the memory of one agent, and of a virtual machine where the sandbox is one of Docker's."
}

// Run implements ralph plan run.
func (c *planRun) Run(ctx context.Context, hard hardContext, p process, stderr io.Writer) error {
	c.fromHere(p)
	others := c.others()
	if c.FailAtCap {
		others["atReviewCap"] = config.Fail
	}
	if c.Sandbox {
		others["sandbox"] = "require"
	} else if c.NoSandbox {
		others["sandbox"] = config.Off
	}
	s, shown, err := c.open(ctx, p, stderr, display{title: c.RalphDir}, setBy(c, others))
	defer shown.close()
	if err != nil {
		return c.end(p, loop.Result{Outcome: outcomeOf(err)}, err)
	}
	s.Dir = p.path(c.ProjectDir)
	result, err := (&local.IssueRun{Session: s, Plan: c.RalphDir, Accept: c.Accept, Answer: c.Answer}).Run(ctx, hard)
	result, err = notBegun(ctx, result, err)
	return c.end(p, result, err)
}
