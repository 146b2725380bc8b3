package app

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// status answers /ralph status from the run record on the remote.
func (a *Action) status(ctx context.Context, ev event.Event) error {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return err
	}
	all, err := git.Records(ctx, o)
	if err != nil {
		return fmt.Errorf("looking for the run of issue #%d: %w", ev.Issue.Number, err)
	}
	for _, record := range all {
		records, _, err := journal.Read(bytes.NewReader(record.Files[journal.File]))
		if err != nil {
			continue
		}
		if s := loop.Fold(records); s.Start.Issue == ev.Issue.Number || s.Post.Pull == ev.Issue.Number {
			return a.answer(ctx, ev, report.Status(a.view(s)))
		}
	}
	return a.answer(ctx, ev, report.NoStatus(a.rules.TriggerPhrase, ev.Issue.Number))
}
