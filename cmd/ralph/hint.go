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
	Task string   `placeholder:"TASK" help:"Send the hint to this task's run (default: the most recent)"`
	Text []string `arg:"" placeholder:"TEXT" help:"Hint for the next turn or review: ralph hint 'leave the parser alone'"`
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
	Task string `arg:"" optional:"" placeholder:"TASK" help:"Show this task's run (default: the most recent)"`
}

// Run implements ralph watch.
func (c *watchCommand) Run(ctx context.Context, p process) error {
	return (&statusCommand{Task: c.Task, Watch: true}).Run(ctx, p)
}
