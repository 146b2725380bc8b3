package app

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// countdown is how often a waiting run says how long it still waits.
const countdown = 5 * time.Minute

// sleep waits until a pause is over or ctx is done. It looks at the clock again and again: a laptop that was asleep meanwhile goes on
// at once when it wakes.
func (w *workshop) sleep(ctx context.Context, pause loop.Pause) {
	w.log("waiting until %s: %s", pause.Until.Local().Format("15:04:05"), pause.Reason)
	told := w.clock()
	proc.Rest()
	for {
		left := pause.Until.Sub(w.clock())
		if left <= 0 {
			return
		}
		if w.clock().Sub(told) >= countdown {
			told = w.clock()
			w.log("waiting, %s to go", left.Round(time.Second))
		}
		if !nap(ctx, min(left, 10*time.Second)) {
			return
		}
	}
}

// nap waits and reports whether it was let sleep to the end.
func nap(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
