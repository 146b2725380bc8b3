package bot

import (
	"context"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// status answers /ralph status from the run record on the remote.
func (a *Action) status(ctx context.Context, ev event.Event, run loop.State, known bool) error {
	if !known {
		return a.answer(ctx, ev, report.NoStatus(a.rules.TriggerPhrase, ev.Issue.Number))
	}
	return a.answer(ctx, ev, report.Status(a.view(run)))
}
