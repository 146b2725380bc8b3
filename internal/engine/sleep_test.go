package engine

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// A wait ends when its time has come by the clock, also when that was set on or back meanwhile.
func TestSleepOutlivesClockChanges(t *testing.T) {
	for name, jump := range map[string]time.Duration{"a day on": 24 * time.Hour, "a day back": -24 * time.Hour} {
		now, looks := time.Now(), 0
		clock := func() time.Time {
			if looks++; looks > 2 {
				return now.Add(jump)
			}
			return now
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		spec := &Spec{Output: Output{Clock: clock, Log: func(string, ...any) {}}}
		spec.sleep(ctx, loop.Pause{Until: now.Add(10 * time.Minute)})
		if ctx.Err() != nil {
			t.Errorf("%s: it slept on", name)
		}
		cancel()
	}
}
