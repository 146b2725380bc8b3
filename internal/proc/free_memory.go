package proc

import (
	"sync/atomic"
	"time"
)

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
