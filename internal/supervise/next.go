package supervise

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// status is what is known when a supervisor has to decide what to do.
type status struct {
	Attempts int // how many have run
	Max      int // how many may run
	// Fresh says that an attempt has ended since the last decision: what it left is examined before a cancellation is.
	Fresh     bool
	Cancelled bool // start nothing new
	Killed    bool // end what runs
	// Fault is why it cannot be told how things stand: DONE is a directory.
	Fault   string
	Done    bool   // the DONE marker is there
	Waiting string // how someone asked to wait without a restart
	Fatal   string // why another attempt would make no difference
	Broken  string // why we cannot continue ourselves
	// Children is how many registered runs are alive; it is counted only when Done. Patience is what is left of the
	// time to wait for them.
	Children  int
	Patience  time.Duration
	DelayLeft time.Duration // what is left of the delay before the next attempt
}

// superviseDo is what a supervisor does next.
type superviseDo string

// The steps of a supervisor.
const (
	startAttempt superviseDo = "start"
	waitDelay    superviseDo = "wait for the delay"
	waitChildren superviseDo = "wait for children"
	stopAll      superviseDo = "stop"
)

// superviseStep is one decision with its reason.
type superviseStep struct {
	Do      superviseDo
	Outcome loop.Outcome // of stopAll
	Reason  string       // of stopAll; the words of the log
}

// Reasons that the texts give word by word.
const (
	reasonDone    = "task completed (DONE marker present, no active children)"
	reasonWaiting = "Wait-without-restart signal detected"
)

// next says what a supervisor does now. It reads nothing but the standing. How an attempt ended stops nothing by
// itself, exit code 0 least of all: only DONE, the limit, a cancellation, a fatal error and the signal to wait do.
func (s status) next() superviseStep {
	stop := func(o loop.Outcome, format string, args ...any) superviseStep {
		return superviseStep{stopAll, o, fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Killed:
		return stop(loop.Interrupted, "interrupted: what was running has been ended")
	case s.Cancelled && !s.Fresh:
		return stop(loop.Interrupted, "interrupted: nothing new is started")
	case s.Fault != "":
		return stop(loop.Invalid, "%s", s.Fault)
	case s.Done && s.Children > 0 && s.Patience > 0:
		return superviseStep{Do: waitChildren}
	case s.Done:
		return stop(loop.Done, reasonDone)
	case s.Waiting != "":
		return stop(loop.Waiting, "%s (%s)", reasonWaiting, s.Waiting)
	case s.Fatal != "":
		return stop(loop.Invalid, "%s", s.Fatal)
	case s.Broken != "":
		return stop(loop.Failed, "%s", s.Broken)
	case s.Cancelled:
		return stop(loop.Interrupted, "interrupted: nothing new is started")
	case s.DelayLeft > 0:
		return superviseStep{Do: waitDelay}
	case s.Attempts >= s.Max:
		return stop(loop.Capped, "Attempt %d: Max restarts exceeded, stopping", s.Attempts)
	}
	return superviseStep{Do: startAttempt}
}
