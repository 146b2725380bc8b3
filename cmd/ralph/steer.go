package main

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/session"
)

type hintCommand struct {
	Task string   `placeholder:"TASK" help:"Send the hint to this task's run (default: the most recent)"`
	Text []string `arg:"" placeholder:"TEXT" help:"Hint for the next turn or review: ralph hint 'leave the parser alone'"`
}

// Run implements ralph hint.
func (c *hintCommand) Run(ctx context.Context, s session.Session) error {
	return (&local.Hint{Session: s, Text: strings.Join(c.Text, " "), Task: c.Task}).Run(ctx)
}

type cancelCommand struct {
	Task string `arg:"" optional:"" placeholder:"TASK" help:"Only if the running run is of this task."`
	Now  bool   `help:"Stop the step that runs, too. Without it, the run ends after the step; asked again, it stops the step."`
}

// Run implements ralph cancel. Its exit code is 0 if no run is running when it ends.
func (c *cancelCommand) Run(ctx context.Context, s session.Session) error {
	return (&local.Cancel{Session: s, Task: c.Task, Now: c.Now}).Run(ctx)
}

type cleanCommand struct {
	DryRun bool     `help:"List what would be removed, and remove nothing."`
	Yes    bool     `help:"Remove what is listed without asking."`
	Drop   []string `placeholder:"BRANCH" sep:"none" help:"Remove this branch although it holds commits that are nowhere else; all is every such branch."`
}

// Run implements ralph clean.
func (c *cleanCommand) Run(ctx context.Context, p process, s session.Session) error {
	if p.terminal() && isTerminal(p.out) {
		s.Ask = func(question string) (string, error) { return askLine(ctx, p.in, p.out, question) }
	}
	return (&local.Clean{Session: s, Yes: c.Yes, DryRun: c.DryRun, Drop: c.Drop}).Run(ctx)
}
