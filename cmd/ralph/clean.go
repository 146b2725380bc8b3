package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/session"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type cleanCommand struct {
	DryRun bool     `help:"List what would be removed, and remove nothing."`
	Yes    bool     `help:"Remove what is listed without asking."`
	Drop   []string `placeholder:"BRANCH" sep:"none" help:"Remove this branch although it holds commits that are nowhere else; all is every such branch."`
}

// Run implements ralph clean.
func (c *cleanCommand) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	clean := &local.Clean{Session: session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now},
		Yes: c.Yes, DryRun: c.DryRun, Drop: c.Drop}
	if p.in != nil && term.IsTerminal(int(p.in.Fd())) && isTerminal(p.out) {
		clean.Ask = func(question string) (string, error) { return askLine(ctx, p.in, p.out, question) }
	}
	return lookEnded(ctx, clean.Run(ctx))
}
