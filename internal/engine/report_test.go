package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
)

// diffs are the copies of a run of which only the diffs are read.
type diffs func(from, to string, most int) (string, error)

func (diffs) Review(context.Context, string) (*git.Review, error) { return nil, errors.ErrUnsupported }

func (d diffs) Diff(_ context.Context, from, to string, most int) (string, error) {
	return d(from, to, most)
}

// TestDiffsOfAPageAreBounded: all of them together, the newest first, and what is missing is told.
func TestDiffsOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	asked := 0
	spec := &Spec{Work: Work{Copies: diffs(func(_, to string, most int) (string, error) {
		asked++
		if to == "gone" {
			return "", errors.New("comparing: no such commit")
		}
		return strings.Repeat(strings.Repeat("y", 99)+"\n", most/100), nil
	})}, Output: Output{Redact: asItIs}}
	var steps []step
	for n := 1; n <= 40; n++ {
		steps = append(steps, step{n, "a", "b"})
	}
	diffs := spec.diffs(t.Context(), steps)
	all := 0
	for n, d := range diffs {
		all += len(d.Text)
		if (d.Text == "") != strings.Contains(d.Note, "no time or room left") {
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
	if got := spec.diffs(cancelled, steps)[40]; got.Text != "" || !strings.Contains(got.Note, "no time or room left") {
		t.Errorf("of a run that is cancelled: %+v", got)
	}
}

// TestStepsOfARun: an iteration's diff goes from where its first turn began to its last commit.
func TestStepsOfARun(t *testing.T) {
	t.Parallel()
	begun := func(n int) loop.Record { return loop.Record{Type: loop.TurnBegun, Iteration: n} }
	turned := func(n int) loop.Record {
		return loop.Record{Type: loop.Turned, Iteration: n, Turn: &loop.Turn{Class: loop.OK}}
	}
	committed := func(n int, sha string) loop.Record {
		return loop.Record{Type: loop.Committed, Iteration: n, Commit: &loop.Commit{SHA: sha}}
	}
	corrected := loop.Record{Type: loop.Corrected, Commit: &loop.Commit{SHA: "own"}}
	for _, tt := range []struct {
		name    string
		records []loop.Record
		want    string
	}{
		{"one after the other", []loop.Record{begun(1), turned(1), committed(1, "a"), begun(2), turned(2), committed(2, "b")},
			"[{1 base a} {2 a b}]"},
		{"nothing was changed", []loop.Record{begun(1), turned(1), committed(1, "base"), begun(2), turned(2),
			committed(2, "b")}, "[{2 base b}]"},
		{"a turn was taken again", []loop.Record{begun(1), turned(1), committed(1, "a"), begun(1), turned(1),
			committed(1, "b")}, "[{1 base b}]"},
		{"the harness corrected in between",
			[]loop.Record{begun(1), turned(1), committed(1, "a"), corrected, begun(2), turned(2), committed(2, "b")},
			"[{1 base a} {2 own b}]"},
		{"a turn still runs", []loop.Record{begun(1)}, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			records := append([]loop.Record{{Type: loop.Started, Start: &loop.Start{Base: "base"}}}, tt.records...)
			s := loop.Fold(records)
			if got := fmt.Sprint(stepsOf(s)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
