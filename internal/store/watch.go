package store

import "sync"

// watchers are who waits for news of which run.
type watchers struct {
	mu sync.Mutex
	of map[string]map[chan struct{}]bool
}

// Watch gives a channel on which something arrives after this process has stored a record or the row of the run; with
// the run "" after that of any run. News that is not fetched is one piece. stop ends it.
func (s *Store) Watch(run string) (news <-chan struct{}, stop func()) {
	c, w := make(chan struct{}, 1), &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string]map[chan struct{}]bool{}
	}
	if w.of[run] == nil {
		w.of[run] = map[chan struct{}]bool{}
	}
	w.of[run][c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.of[run], c); len(w.of[run]) == 0 {
			delete(w.of, run)
		}
	}
}

// notify tells watchers of a run and of all runs.
func (s *Store) notify(run string) {
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	for _, of := range []string{run, ""} {
		for c := range s.watchers.of[of] {
			select {
			case c <- struct{}{}:
			default: // the last news are not fetched yet
			}
		}
	}
}
