package loop

import (
	"fmt"
	"time"
)

// Request is how a run was asked for, as far as it matters to one that already exists.
type Request struct {
	Retry bool // continue from what was tried: a retry, or the label put back
	Fresh bool // begin at the base again
	Hint  bool // with words on what to change
	Owner string
}

// ResumeMode is what happens to a request.
type ResumeMode string

// The ways to take a request up.
const (
	Begin    ResumeMode = "begin"    // a new run
	Continue ResumeMode = "continue" // the run continues where its journal stands
	Again    ResumeMode = "again"    // its outcome is taken back, and it gets more iterations
	Held     ResumeMode = "held"     // someone else works on it
	Nothing  ResumeMode = "nothing"  // there is nothing to do
)

// TakeUp says whether a request starts a run or continues with the one that the journal tells of, and why. known is
// false when there is no journal.
func TakeUp(s State, known bool, asked Request, now time.Time) (ResumeMode, string) {
	if !known {
		return Begin, "this is the first run"
	}
	if s.End == nil && now.Before(s.Lease) && s.Owner != asked.Owner {
		return Held, fmt.Sprintf("%s is already running (%s)", s.Start.Name(), s.Owner)
	}
	if asked.Fresh {
		return Begin, "a fresh start was requested"
	}
	if s.End == nil {
		return Continue, fmt.Sprintf("the run %s did not finish", s.Start.Run)
	}
	switch s.End.Outcome {
	case Interrupted, Waiting:
		return Continue, fmt.Sprintf("the run %s was %s", s.Start.Run, s.End.Outcome)
	case Done:
		if asked.Retry && asked.Hint {
			return Again, "the last run is done, and a change was requested"
		}
		if asked.Retry {
			return Nothing, "the last run is done; add what to change, or start over with --fresh"
		}
		return Begin, "the last run is done"
	}
	if asked.Retry {
		return Again, fmt.Sprintf("the run %s ended %s", s.Start.Run, s.End.Outcome)
	}
	return Begin, fmt.Sprintf("the last run ended %s, and a retry was not asked for", s.End.Outcome)
}
