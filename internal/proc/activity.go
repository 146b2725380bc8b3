package proc

import (
	"sync"
	"sync/atomic"
	"time"
)

// activity counts the processes that Run and End are at.
type activity struct {
	mu    sync.Mutex
	count int
	since time.Time // when the count has become what it is; the zero time when nothing was ever started
}

var active activity

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count += n
	a.since = time.Now()
}

// QuietFor is for how long nothing that was started here has been running, 0 while something is. What was spared runs
// until End.
func QuietFor() time.Duration {
	active.mu.Lock()
	defer active.mu.Unlock()
	if active.count > 0 || anySpared() {
		return 0
	}
	return time.Since(active.since)
}

// When memory is given back: once a process has run for restAfter, which most checks do not, and no more often than
// every restEvery.
const (
	restAfter = 250 * time.Millisecond
	restEvery = 5 * time.Second
)

var rested atomic.Int64 // when, in seconds

// restNow gives memory back, unless that was done a moment ago: while a process runs for minutes, there is nothing to
// do but read.
func restNow() {
	now := time.Now().Unix()
	if last := rested.Load(); now-last >= int64(restEvery/time.Second) && rested.CompareAndSwap(last, now) {
		FreeMemory()
	}
}
