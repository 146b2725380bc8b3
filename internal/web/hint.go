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

// hint is one as a page shows it.
type hint struct {
	HintGiven
	Turn int // number of the iteration whose turn was the first to read it; 0: none yet
}

// mostHints is how many hints a page lists: the newest.
const mostHints = 20

// hear notes what a record says of hints: that the run has taken one in, and that a turn begins with all of them.
func (st *story) hear(r loop.Record) {
	switch {
	case r.Start != nil && r.Start.Hint != "":
		st.hints = append(st.hints, hint{HintGiven: HintGiven{By: r.Start.Asked, At: r.At, Text: r.Start.Hint}})
	case r.Resume != nil && r.Resume.Hint != "":
		of := HintGiven{By: r.Resume.Asked, At: r.At, Text: r.Resume.Hint}
		if said := r.Resume.Said; said != nil {
			of.ID, of.By = said.ID, said.By
		}
		st.hints = append(st.hints, hint{HintGiven: of})
	case r.Type == loop.TurnBegun:
		for i := len(st.hints) - 1; i >= 0 && st.hints[i].Turn == 0; i-- {
			st.hints[i].Turn = r.Iteration
		}
	}
}

// shownHint is one in the words of the page.
type shownHint struct {
	hint
	Read string // "read in iteration 3"
	New  bool   // no turn has read it yet
}

// withHints are the run's hints, the newest first: those that its records tell of, and those that were given since.
func (st *story) withHints(given []HintGiven, ended bool) (list []shownHint) {
	all := slices.Clone(st.hints)
	for _, g := range given {
		if !slices.ContainsFunc(all, func(h hint) bool { return h.ID == g.ID }) {
			all = append(all, hint{HintGiven: g})
		}
	}
	for _, h := range slices.Backward(all[max(0, len(all)-mostHints):]) {
		read := fmt.Sprintf("read in iteration %d", h.Turn)
		switch {
		case h.Turn == 0 && ended:
			read = "no turn has read it: the run has ended"
		case h.Turn == 0:
			read = "waits for the next turn"
		}
		list = append(list, shownHint{h, read, h.Turn == 0})
	}
	return list
}
