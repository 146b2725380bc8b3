package web

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Hints are what people have said to a run on its page.
type Hints interface {
	// Hints are those of a run, oldest first; the newest hundred are enough.
	Hints(ctx context.Context, run string) ([]HintGiven, error)
}

// HintGiven is one of them.
type HintGiven struct {
	ID   string // as the run's records name it
	By   string // login
	At   time.Time
	Text string
}

// given are the hints that were given on a run's page. Where they cannot be read, the page does without.
func (a *asked) given(run string) []HintGiven {
	if a.Source.Hints == nil {
		return nil
	}
	list, err := a.Source.Hints.Hints(a.r.Context(), run)
	if err != nil {
		a.Log.Error("reading the hints of a run", "run", run, "error", err)
	}
	return list
}

// mostHints is how many hints a page lists: the newest.
const mostHints = 20

// shownHint is one in the words of the page.
type shownHint struct {
	loop.TakenHint
	Read string // "read in iteration 3"
	New  bool   // no turn and no reviewer has read it yet
}

// withHints are the run's hints, the newest first: those that its records tell of, and those that were given since.
func (st *story) withHints(given []HintGiven, ended bool) (list []shownHint) {
	all := slices.Clone(st.detail.State.Hints)
	for _, g := range given {
		if !slices.ContainsFunc(all, func(h loop.TakenHint) bool { return h.ID == g.ID }) {
			all = append(all, loop.TakenHint{Hint: loop.Hint{ID: g.ID, By: g.By, Text: g.Text}, At: g.At})
		}
	}
	for _, h := range slices.Backward(all[max(0, len(all)-mostHints):]) {
		read := fmt.Sprintf("read in iteration %d", h.ReadIn)
		switch {
		case h.Undone:
			read += ", not done: the result was not approved"
		case h.ReadIn == 0 && ended:
			read = "not read: the run has ended"
		case h.ReadIn == 0:
			read = "waits for the next turn or review"
		}
		list = append(list, shownHint{h, read, h.ReadIn == 0})
	}
	return list
}
