package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestAfterStop: a run has time for its end although it was cancelled, and less of it after the second signal, whenever
// that comes.
func TestAfterStop(t *testing.T) {
	for name, c := range map[string]struct{ second, want time.Duration }{
		"one signal":                     {time.Hour, time.Minute},
		"two before the end begins":      {0, endGrace},
		"the second while it is at that": {20 * time.Second, 20*time.Second + endGrace},
		"the second when it is late":     {55 * time.Second, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				hard, stop := context.WithCancel(t.Context())
				defer stop()
				if c.second == 0 {
					stop()
				} else {
					defer time.AfterFunc(c.second, stop).Stop()
				}
				began := time.Now()
				late, done := AfterStop(ctx, hard, time.Minute)
				defer done()
				<-late.Done()
				if took := time.Since(began); took != c.want {
					t.Errorf("the time for the end was %s, want %s", took, c.want)
				}
			})
		})
	}
}
