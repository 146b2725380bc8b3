package main

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/local"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type planRun struct {
	MaximumIterations *int   `name:"max-iterations" short:"n" aliases:"maximum-iterations" placeholder:"N" help:"How many iterations the run may take. Default: 15, or the setting maximumIterations. A story takes two at least: one that implements it and one that reviews it."`
	M                 *int   `short:"m" hidden:"" placeholder:"N" help:"The same as --max-iterations."`
	RalphDir          string `default:"ralph" placeholder:"PATH" help:"The plan's directory. Default: ralph."`
	ProjectDir        string `name:"dir" aliases:"project-dir" short:"d" placeholder:"PATH" help:"The project. Default: the current directory."`

	Agent        *string        `placeholder:"NAME" help:"The coding agent: {agent_command}"`
	Model        *string        `placeholder:"NAME" help:"{agent_model} Default: the agent's own."`
	Sandbox      bool           `xor:"sandbox" help:"Refuse to run without a sandbox that holds."`
	NoSandbox    bool           `xor:"sandbox" help:"Run without a sandbox."`
	SkipReview   bool           `help:"No reviews: an iteration that implements a story sets it to passed itself."`
	ReviewCap    *int           `placeholder:"N" help:"{reviewCap} Default: 5."`
	FailAtCap    bool           `help:"Fail when a story's last review does not approve it, rather than approve it marked so. The same as the setting atReviewCap: fail."`
	Timeout      *time.Duration `placeholder:"TIME" help:"How long the whole run may take, in whole minutes: 90m. Default: 60m."`
	AgentTimeout *time.Duration `placeholder:"TIME" help:"{agent_timeout} Default: 20m."`
	MaxCostUSD   *float64       `name:"max-cost-usd" placeholder:"AMOUNT" help:"{maxCostUsd}"`
	MaxTokens    *int64         `name:"max-tokens" placeholder:"N" help:"{maxTokens}"`
	Resume       bool           `xor:"again" help:"Continue the last run, even when it has ended."`
	Fresh        bool           `xor:"again" help:"Start over at the base. What was done is kept under wip/archive."`
	Verbose      bool           `short:"V" xor:"loud" help:"Verbose logging on standard error."`
	Quiet        bool           `short:"q" xor:"loud" help:"Print nothing but warnings and how the run ends."`
	Answer       string         `placeholder:"TEXT" help:"Answer the agent's question, or describe what is missing."`
	Accept       []string       `placeholder:"NAME" sep:"none" help:"Accept a finding about the change by its name, or that a path which the checks share with the clone was changed during the run; all accepts every one. Repeatable; together with --resume."`
	JSON         bool           `name:"json" help:"Print the outcome as JSON on standard output, and everything else on standard error."`
}

// Help implements kong.HelpProvider.
func (c *planRun) Help() string {
	return "Each iteration is a fresh context that works on one story: it implements it, reviews what another one did, " +
		"or fixes what a review asked for. " +
		"Nothing passes that no review has approved.\n\n" +
		"A plan has one run at a time; several plans can run at once in one clone. " +
		"Every run needs the memory of one agent, and of a virtual machine where the sandbox is one of Docker's."
}

// Run implements ralph plan run.
func (c *planRun) Run(ctx context.Context, hard hardContext, p process, stderr io.Writer) error {
	c.Agent = fromHere(p.dir, c.Agent)
	run := c.command()
	env, err := config.ReadEnvironment(environment(p.environ))
	if err == nil {
		err = run.limits()
	}
	if err != nil {
		return run.end(p, loop.Result{Outcome: loop.Invalid}, err)
	}
	out := p.out
	if c.JSON {
		out = stderr
	}
	seat := run.session(ctx, env, p, out, stderr)
	if seat.Dir = p.dir; c.ProjectDir != "" {
		if seat.Dir = c.ProjectDir; !filepath.IsAbs(seat.Dir) {
			seat.Dir = filepath.Join(p.dir, c.ProjectDir)
		}
	}
	defer keepOutput()()
	defer stamp(env, out)()
	run.begin(out)
	defer run.live(ctx, &seat, p, out, stderr)()
	l := &local.IssueRun{Session: seat, Plan: c.RalphDir, Accept: c.Accept, Answer: c.Answer}
	result, err := l.Run(ctx, hard)
	result, err = notBegun(ctx, result, err)
	return run.end(p, result, err)
}

// command is the run as ralph run would be told of it.
func (c *planRun) command() *runCommand {
	run := &runCommand{
		plan:              c.RalphDir,
		MaximumIterations: c.MaximumIterations, N: c.M, Agent: c.Agent, Model: c.Model, Timeout: c.Timeout,
		AgentTimeout: c.AgentTimeout,
		MaxCostUSD:   c.MaxCostUSD, MaxTokens: c.MaxTokens,
		SkipReview: c.SkipReview, Resume: c.Resume, Fresh: c.Fresh, Verbose: c.Verbose, Quiet: c.Quiet,
		showFlags: showFlags{JSON: c.JSON}, ReviewCap: c.ReviewCap,
		FailAtCap: c.FailAtCap,
	}
	switch {
	case c.Sandbox:
		run.Sandbox = "require"
	case c.NoSandbox:
		run.Sandbox = "off"
	}
	return run
}
