package main

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

type hintCommand struct {
	Task string   `placeholder:"TASK" help:"To the run of which task, when several are at work. Default: the one that something was written of last."`
	Text []string `arg:"" placeholder:"TEXT" help:"What the next turn is to know: ralph hint 'leave the parser alone'."`
}

// Run implements ralph hint.
func (c *hintCommand) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	hint := &local.Hint{Session: session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now},
		Text: strings.Join(c.Text, " "), Task: c.Task}
	return lookEnded(ctx, hint.Run(ctx))
}

type watchCommand struct {
	Task string `arg:"" optional:"" placeholder:"TASK" help:"Of which task. Default: the run that something was written of last."`
}

// Run implements ralph watch.
func (c *watchCommand) Run(ctx context.Context, p process) error {
	return (&statusCommand{Task: c.Task, Watch: true}).Run(ctx, p)
}
