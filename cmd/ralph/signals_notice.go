package main

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// received is what the first signal is answered with, word by word.
const received = "Received signal, shutting down...\n"

// firstNotice says what is waited for after the first signal, for how long, and what the second one does.
func (i *interruption) firstNotice(step loop.RunningStep, running bool, grace, kill time.Duration) string {
	switch {
	case running && grace == noGrace:
		return stoppingNotice(step, running, kill)
	case running:
		return waitingNotice(step, grace, kill, now())
	case i.finishes.Load():
		return "No step is running, so ralph saves its state and exits; a second signal leaves it only seconds for that.\n"
	}
	return ""
}

// waitingNotice is about a step that may go on after the first signal.
func waitingNotice(step loop.RunningStep, grace, kill time.Duration, now time.Time) string {
	left := max(step.Deadline.Sub(now), 0)
	switch limited := !step.Deadline.IsZero(); {
	case grace == untilSecond && limited:
		return waitingLine(step, fmt.Sprintf("for at most %s", safetext.Duration(left)), "a second Ctrl-C stops it", kill)
	case grace == untilSecond:
		return waitingLine(step, "which has no time limit", "a second Ctrl-C stops it", kill)
	case limited && left < grace:
		grace = left
	}
	return waitingLine(step, fmt.Sprintf("for at most %s", safetext.Duration(grace)), "then, or at a second signal, it is stopped", kill)
}

func waitingLine(step loop.RunningStep, limit, then string, kill time.Duration) string {
	return fmt.Sprintf("Waiting for %s to end, %s; %s, and what is left of it after %s is killed.\n",
		safetext.Inert(step.Name), limit, then, kill)
}

// stoppingNotice is about a step that is being stopped; it is empty when there is none.
func stoppingNotice(step loop.RunningStep, running bool, kill time.Duration) string {
	if !running {
		return ""
	}
	return fmt.Sprintf("Stopping %s; what is left of it after %s is killed, and more signals change nothing.\n",
		safetext.Inert(step.Name), kill)
}
