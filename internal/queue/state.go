package queue

import (
	"context"
	"maps"
	"time"
)

// nudge lets this process look for jobs at once.
func (q *Queue) nudge() { signal(q.wake) }

// lookSoon lets this process look for canceled jobs at once.
func (q *Queue) lookSoon() { signal(q.soon) }

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default: // one is on its way
	}
}

// runs is how many jobs this process has claimed and not settled.
func (q *Queue) runs() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.active)
}

func (q *Queue) snapshot() map[string]*active {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.active)
}

func (q *Queue) clock() time.Time {
	if q.Clock != nil {
		return q.Clock()
	}
	return time.Now()
}

func (q *Queue) gaveUp(id string) {
	q.Log.Warn("a job is given up", "job", id)
	if q.GaveUp != nil {
		q.GaveUp(id)
	}
}

// wait reports whether the pause passed before ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}
