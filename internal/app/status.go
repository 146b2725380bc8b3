package app

import (
	"context"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/report"
)

// status answers /ralph status from the run record on the remote.
func (a *Action) status(ctx context.Context, ev event.Event) error {
	runs, err := a.runs(ctx)
	if err != nil {
		return err
	}
	for _, s := range runs {
		if s.Start.Issue == ev.Issue.Number || s.Post.Pull == ev.Issue.Number {
			return a.answer(ctx, ev, report.Status(a.view(s)))
		}
	}
	return a.answer(ctx, ev, report.NoStatus(a.rules.TriggerPhrase, ev.Issue.Number))
}
