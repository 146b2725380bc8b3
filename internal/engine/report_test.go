package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/report/html"
)

// TestDiffsOfAPageAreBounded: all of them together, the newest first, and what is missing is told.
func TestDiffsOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	asked := 0
	spec := &Spec{Work: Work{Copies: Copies{diff: func(_ context.Context, _, to string, most int) (string, error) {
		asked++
		if to == "gone" {
			return "", errors.New("comparing: no such commit")
		}
		return strings.Repeat("y", most), nil
	}}}}
	var steps []step
	for n := 1; n <= 40; n++ {
		steps = append(steps, step{n, "a", "b"})
	}
	diffs := spec.diffs(t.Context(), steps)
	all := 0
	for n, d := range diffs {
		all += min(len(d.Text), html.DiffBytes)
		if (d.Text == "") != strings.Contains(d.Note, "take all the room") {
			t.Errorf("iteration %d: %d bytes, note %q", n, len(d.Text), d.Note)
		}
	}
	if all > pageDiffs || all < pageDiffs/2 || len(diffs) != 40 || diffs[40].Text == "" || diffs[1].Text != "" {
		t.Errorf("%d bytes of %d diffs", all, len(diffs))
	}
	if asked > pageDiffs/html.DiffBytes+1 {
		t.Errorf("git was asked %d times", asked)
	}
	if got := spec.diffs(t.Context(), []step{{1, "a", "gone"}})[1]; got.Text != "" ||
		!strings.Contains(got.Note, "no such commit") {
		t.Errorf("of a commit that is gone: %+v", got)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if got := spec.diffs(cancelled, steps)[40]; got.Text != "" || !strings.Contains(got.Note, "no time left") {
		t.Errorf("of a run that is cancelled: %+v", got)
	}
}
