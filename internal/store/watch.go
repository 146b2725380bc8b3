package store

// watchers are who waits for news of which run.
type watchers struct {
	locked[map[string]map[chan struct{}]bool]
}

// Watch gives a channel on which something arrives after this process has stored a record or the row of the run; with
// the run "" after that of any run. News that is not fetched is one piece. stop ends it.
func (s *Store) Watch(run string) (news <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	s.watchers.do(func(all *map[string]map[chan struct{}]bool) {
		if *all == nil {
			*all = map[string]map[chan struct{}]bool{}
		}
		if (*all)[run] == nil {
			(*all)[run] = map[chan struct{}]bool{}
		}
		(*all)[run][c] = true
	})
	return c, func() {
		s.watchers.do(func(all *map[string]map[chan struct{}]bool) {
			delete((*all)[run], c)
			if len((*all)[run]) == 0 {
				delete(*all, run)
			}
		})
	}
}

// notify tells watchers of a run and of all runs.
func (s *Store) notify(run string) {
	s.watchers.do(func(all *map[string]map[chan struct{}]bool) {
		for _, of := range []string{run, ""} {
			for c := range (*all)[of] {
				select {
				case c <- struct{}{}:
				default: // the last news are not fetched yet
				}
			}
		}
	})
}
