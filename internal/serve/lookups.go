package serve

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	lookTime    = 30 * time.Second // of one lookup
	lookupsKept = 10_000
)

// lookups remembers GitHub's answers, each for the time that keeps returns. Concurrent callers share one request. Errors
// are not remembered. It is safe for concurrent use.
type lookups[T any] struct {
	clock func() time.Time
	keeps func(T) time.Duration // nil: a minute each

	one  singleflight.Group
	mu   sync.Mutex
	kept map[string]lookup[T]
}

type lookup[T any] struct {
	value T
	until time.Time
}

// of returns the remembered answer for a key, or calls find. When ctx ends, it returns ctx's error, and find continues for
// the next caller.
func (l *lookups[T]) of(ctx context.Context, key string, find func(context.Context) (T, error)) (T, error) {
	now := l.clock()
	if known, ok := l.last(key); ok && now.Before(known.until) {
		return known.value, nil
	}
	found := l.one.DoChan(key, func() (any, error) {
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		value, err := find(looking)
		if err != nil {
			return value, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.kept == nil || len(l.kept) >= lookupsKept {
			l.kept = map[string]lookup[T]{}
		}
		keep := time.Minute
		if l.keeps != nil {
			keep = l.keeps(value)
		}
		l.kept[key] = lookup[T]{value, now.Add(keep)}
		return value, nil
	})
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case got := <-found:
		value, _ := got.Val.(T) // nothing else is returned
		return value, got.Err
	}
}

// last returns the latest answer for a key, also an expired one.
func (l *lookups[T]) last(key string) (lookup[T], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.kept[key]
	return known, ok
}
