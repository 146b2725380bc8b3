package loop

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// How often a turn is tried again in a row when its model was not to be had, and how long a reset may be away.
const (
	maxRetries = 8 // 2, 4, 8 … 60 s apart: about four minutes, on top of what the agent itself has tried
	maxLimited = 3 // of a limit whose reset no one tells
	maxResets  = 8 // of one that is told and does not come
	maxWait    = 6 * time.Hour
	maxSilent  = 2 // turns in a row that end without a word of the model's
	firstPause = 2 * time.Second
	mostPause  = time.Minute
	resetSlack = 2 * time.Second // clocks differ

	unablePause = 30 * time.Second // before an agent that did nothing is asked again
)

// retry says what to do after a turn that failed for a reason that passes by itself: wait, take the turn again, or
// stop. None of it is an iteration.
func retry(s State, limits Limits, now time.Time) Step {
	last := s.Last()
	t := last.Turn
	until := t.ResetAt
	// a reset that has come and changed nothing tells nothing
	known := t.Class == UsageLimit && until.After(last.At.Add(t.Duration))
	if known {
		until = until.Add(resetSlack)
	} else {
		until = s.At.Add(backoff(s.FailInRow, s.At))
		if s.Pause != nil {
			until = s.Pause.Until
		}
	}
	waiting := Step{Do: Stop, Outcome: Waiting, Reason: t.Reason}
	switch {
	case known && s.FailInRow > maxResets:
		waiting.Until = until
		return waiting
	case known && !until.After(now), s.Pause != nil && !s.Pause.Until.After(now):
		return Step{Do: TakeTurn}
	case !known && until.Sub(now) > 2*mostPause: // no pause of ours is as long: the clock was set back
		return Step{Do: TakeTurn}
	case known && (limits.NoWait || until.Sub(now) > maxWait || limits.over(until)):
		waiting.Until = until
		return waiting
	case !known && t.Class == UsageLimit && (limits.NoWait || t.SatOut || s.FailInRow > maxLimited):
		return waiting
	case !known && s.FailInRow > maxRetries:
		return Step{Do: Stop, Outcome: Failed,
			Reason: fmt.Sprintf("the model was not to be had %d times in a row: %s", s.FailInRow, t.Reason)}
	case limits.over(until):
		return Step{Do: Stop, Outcome: Timeout,
			Reason: fmt.Sprintf("the run's time limit of %s ends before the usage limit resets: %s",
				safetext.Duration(limits.Wall), t.Reason)}
	}
	return Step{Do: Wait, Iteration: last.N, Mode: last.Mode, Reason: t.Reason, Until: until}
}

// again has an agent that did nothing asked again, after a pause. If it does nothing again, the run waits for a
// person, or for the time that the agent names.
func (s State) again(limits Limits, now time.Time) Step {
	last := s.Last()
	until := s.At.Add(unablePause)
	if s.Pause != nil {
		until = s.Pause.Until
	}
	switch {
	case s.Unable > 1 || limits.over(until):
		return Step{Do: Stop, Outcome: Waiting, Until: last.Turn.ResetAt, Reason: fmt.Sprintf(
			"%s (the agent cannot work: it spent, changed and claimed nothing)", safetext.Shorten(safetext.OneLine(s.unable), 500))}
	case s.Pause != nil && !until.After(now), until.Sub(now) > 2*mostPause:
		return Step{Do: TakeTurn}
	}
	return Step{Do: Wait, Iteration: last.N, Mode: last.Mode, Until: until, Reason: "the agent did nothing and said: " +
		safetext.Shorten(safetext.OneLine(s.unable), 200)}
}

// silence says that the last two turns were stopped before their model had answered anything: it does not exist, or the
// agent waits for a usage limit and does not say so. More such turns would cost only time. Empty: that is not so, or
// was before the run continued.
func (s State) silence() string {
	n := len(s.Iterations)
	if n < maxSilent {
		return ""
	}
	for _, it := range s.Iterations[n-maxSilent:] {
		if !it.Turn.Silent || !it.Judged || it.At.Before(s.ResumedAt) {
			return ""
		}
	}
	return fmt.Sprintf("the model has answered nothing in %d turns, each stopped for its silence after %s: it does not "+
		"work, or the agent waits for a usage limit without saying so; "+
		"see whether it answers, or raise the idle limit if it needs longer", maxSilent,
		safetext.Duration(s.Last().Turn.Duration))
}

func (l Limits) over(at time.Time) bool { return !l.Deadline.IsZero() && !at.Before(l.Deadline) }

// backoff is how long to wait before the nth retry in a row: twice as long each time, within bounds, and up to a
// quarter more or less so that runs which failed together do not come back together. The jitter is drawn from the time
// of the failure: the same journal gives the same answer.
func backoff(n int, at time.Time) time.Duration {
	pause := min(firstPause<<min(n-1, 10), mostPause)
	jitter := time.Duration(at.UnixNano()/int64(time.Microsecond)%501-250) * pause / 1000
	return pause + jitter
}
