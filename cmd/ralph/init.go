package main

import (
	"context"
	"errors"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/app"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type initCommand struct{}

// Run implements ralph init. Whatever keeps the settings from being written is exit code 2, but 130 when the answers end early (S1-45).
func (initCommand) Run(ctx context.Context, p process) error {
	if p.in == nil || !term.IsTerminal(int(p.in.Fd())) {
		return &endedError{loop.Invalid.ExitCode(), errors.New("ralph init asks questions, and standard input is not a terminal; " +
			"run it in one, or write " + config.SettingsFile + " yourself (ralph settings schema prints what may stand in it)")}
	}
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	i := &app.Init{Env: env, Parent: p.environ, Dir: p.dir, In: p.in, Out: p.out}
	switch err := i.Run(ctx); {
	case errors.Is(err, app.ErrAborted):
		return &endedError{loop.Interrupted.ExitCode(), err}
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return nil
}
