package main

import (
	"context"
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/app"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type runCommand struct {
	Issue         string `required:"" placeholder:"FILE|NUMBER" help:"What is wanted: a Markdown file whose first line is the title, or the number of an issue of this repository (needs GITHUB_TOKEN)."`
	Agent         string `placeholder:"NAME" help:"The coding agent: claude, or the path of a program that takes a prompt on standard input. Overrides the settings."`
	MaxIterations int    `short:"m" aliases:"maximum-iterations" placeholder:"N" help:"How many iterations the run may take. Default: 5, or the setting maximumIterations."`
	SkipReview    bool   `help:"Accept the work without a reviewer."`
	Resume        bool   `xor:"again" help:"Go on with the last run of this issue, even when it has ended."`
	Fresh         bool   `xor:"again" help:"Begin again, even when there is a run to go on with. Old work moves to wip/archive/."`
}

// Run implements ralph run.
func (c *runCommand) Run(ctx context.Context, p process) error {
	if c.MaxIterations < 0 {
		return &endedError{loop.Invalid.ExitCode(), errFlag{"--max-iterations", "a whole number from 1"}}
	}
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	l := &app.Local{
		Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now,
		Issue: c.Issue, Fresh: c.Fresh, Resume: c.Resume, Flags: c.layer(),
	}
	result, err := l.Run(ctx, ctx)
	if err == nil && result.Outcome == loop.Done {
		return nil
	}
	code := result.Outcome.ExitCode()
	if err != nil && result.Outcome == loop.Done {
		code = loop.Failed.ExitCode()
	}
	return &endedError{code, err}
}

// layer is the settings that the flags make.
func (c *runCommand) layer() config.Layer {
	object := map[string]any{}
	if c.Agent != "" {
		object["agent"] = map[string]any{"command": c.Agent}
	}
	if c.MaxIterations > 0 {
		object["maximumIterations"] = c.MaxIterations
	}
	if c.SkipReview {
		object["review"] = false
	}
	text, err := json.Marshal(object)
	if err != nil { // texts, numbers and booleans
		panic(err)
	}
	return config.Layer{Name: "flags", JSON: text}
}

// errFlag is a flag with a value that is not allowed.
type errFlag struct{ name, allowed string }

func (e errFlag) Error() string {
	return "flag " + e.name + " is out of range; allowed is " + e.allowed
}
