package proc

import (
	"sync"
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
