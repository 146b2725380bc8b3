package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// countdown is how often a waiting run says in a log how long it still waits; at a terminal it counts the seconds in one line.
const countdown = 5 * time.Minute

// sleep waits until a pause is over or ctx is done. It looks at the clock again and again: a laptop that was asleep meanwhile goes on
// at once when it wakes. A clock that is set back ends it, for whoever decides to decide again.
func (w *workshop) sleep(ctx context.Context, pause loop.Pause) {
	w.log("waiting until %s: %s", pause.Until.Local().Format("2006-01-02 15:04:05"), pause.Reason)
	told := w.clock()
	most := pause.Until.Sub(told)
	if most > time.Second {
		proc.Rest()
	}
	for {
		left := pause.Until.Sub(w.clock())
		if left <= 0 || left > most || ctx.Err() != nil {
			w.count("")
			return
		}
		w.count(fmt.Sprintf("⏳ %s to go", left.Round(time.Second)))
		if w.live == nil && w.clock().Sub(told) >= countdown {
			told = w.clock()
			w.log("waiting, %s to go", left.Round(time.Second))
		}
		nap(ctx, min(left, time.Second))
	}
}

// count writes over the line of the countdown.
func (w *workshop) count(text string) {
	if w.live != nil {
		_, _ = fmt.Fprintf(w.live, "\r\x1b[K%s", text)
	}
}

// nap waits for a time or until ctx is done.
func nap(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
