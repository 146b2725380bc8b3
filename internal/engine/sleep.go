package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// countdown is how often a waiting run says in a log how long it still waits; at a terminal it counts the seconds in
// one line.
const countdown = 5 * time.Minute

// sleep waits until a pause is over or ctx is done. It looks at the clock again and again: a laptop that was asleep
// meanwhile continues at once when it wakes. A clock that is set back ends it, so that the caller decides again.
func (spec *Spec) sleep(ctx context.Context, pause loop.Pause) {
	spec.Log("waiting until %s: %s", pause.Until.Local().Format("2006-01-02 15:04:05 MST"), pause.Reason)
	logged := spec.Clock()
	most := pause.Until.Sub(logged)
	if most > time.Second {
		proc.FreeMemory()
	}
	for {
		left := pause.Until.Sub(spec.Clock())
		if left <= 0 || left > most || ctx.Err() != nil {
			spec.showCountdown("")
			return
		}
		spec.showCountdown(fmt.Sprintf("⏳ %s to go", safetext.Duration(left)))
		if spec.Live == nil && spec.Clock().Sub(logged) >= countdown {
			logged = spec.Clock()
			spec.Log("waiting, %s to go", safetext.Duration(left))
		}
		Wait(ctx, min(left, time.Second))
	}
}

// showCountdown writes over the line of the countdown.
func (spec *Spec) showCountdown(text string) {
	if spec.Live != nil {
		_, _ = fmt.Fprintf(spec.Live, "\r\x1b[K%s", text)
	}
}

// Wait waits for a time or until ctx is done.
func Wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// endGrace is the time for the end of a run once hard is done: a second signal means that the person does not want to
// wait, and a third one changes nothing.
const endGrace = 10 * time.Second

// AfterStop is the time for the end of a run, which it also has when ctx is done: at most this long, and no longer than
// endGrace once hard is done.
func AfterStop(ctx, hard context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	forget := context.AfterFunc(hard, func() {
		select {
		case <-late.Done():
		case <-time.After(endGrace):
			cancel()
		}
	})
	return late, func() {
		forget()
		cancel()
	}
}
