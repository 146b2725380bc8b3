package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/session"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type cancelCommand struct {
	Task string `arg:"" optional:"" placeholder:"TASK" help:"Only if the running run is of this task."`
	Now  bool   `help:"Stop the step that runs, too. Without it, the run ends after the step."`
}

// Run implements ralph cancel. Its exit code is 0 when no run is running any more.
func (c *cancelCommand) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	cancel := &local.Cancel{Session: session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now},
		Task: c.Task, Now: c.Now}
	return lookEnded(ctx, cancel.Run(ctx))
}
