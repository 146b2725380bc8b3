package engine

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// MaxHint bounds what is taken of a hint, in bytes.
const MaxHint = 4 << 10

// hear records what people have said to the run since it was last called, and reports whether they have.
func (run *Run) hear(ctx context.Context) bool {
	if run.Hints == nil {
		return false
	}
	s := run.Journal.State()
	before := len(s.Hints)
	for _, h := range run.Hints(ctx, s) {
		h.Text = safetext.FirstBytes(safetext.Sanitise(run.Redact(h.Text)), MaxHint)
		if h.ID == "" || h.Text == "" || slices.Contains(s.HintIDs(), h.ID) {
			continue
		}
		next, err := run.Journal.Store(loop.Record{Type: loop.Hinted, At: run.Clock(), Hint: &h})
		if err != nil {
			run.Log("recording a hint: %v", err)
			break
		}
		run.Log("hint from %s: %s", h.By, h.Text)
		s = next
	}
	return len(s.Hints) > before
}
