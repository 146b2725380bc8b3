package store

import (
	"context"
	"sync"
	"testing"
	"time"
)

// world is a database of a test, which may be opened again.
type world struct {
	*Store
	options Options
	time    *hand
}

// hand is a clock that a test moves.
type hand struct {
	mutex sync.Mutex
	now   time.Time
}

func (h *hand) read() time.Time {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.now
}

func (h *hand) move(d time.Duration) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.now = h.now.Add(d)
}

// newWorld is a database of its own.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{time: &hand{now: time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC)}}
	w.options = Options{Dir: t.TempDir(), Clock: w.time.read, Keys: keysFor(t, key1)}
	w.open(t)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

const (
	key1 = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	key2 = "2:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
)

func keysFor(t testing.TB, text string) Keys {
	t.Helper()
	keys, err := ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (w *world) open(t testing.TB) {
	t.Helper()
	s, err := Open(t.Context(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	w.Store = s
}

// again closes the database and opens it.
func (w *world) again(t testing.TB) {
	t.Helper()
	ok(t, w.Close())
	w.open(t)
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// got is a value that has to come without an error.
func got[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// within is a context for what a busy machine may take its time for.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
