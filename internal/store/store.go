// Package store is the door to the database of `ralph serve`: deliveries, runs with their records, spend, the audit
// log, secrets and sessions, in one SQLite file of one process.
//
// Every method takes part of one bargain: when it returns nil, what it stored survives the end of the process and, as
// far as the disk keeps its word, of the machine. Every error that says that the database did not do its part now is an
// ErrUnavailable. Nothing is stored in halves.
package store

import (
	"database/sql"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// patience is how long one statement or transaction may take, with the wait for its turn. GitHub gives up on a
// delivery after ten seconds.
const patience = 8 * time.Second

// Store is an open database. Its methods may be called from any number of goroutines.
type Store struct {
	db    *sql.DB
	clock func() time.Time
	keys  Keys
	dir   string // of the file

	// turn lets one write at a time, in the order of coming. Without it SQLite's writers would wait for each other by
	// sleeping, and not in turn.
	turn *semaphore.Weighted
	shut []func() error

	watchers watchers
	arriving chan *arrived
	closed   chan struct{}
	loops    sync.WaitGroup
}

// Close ends what the store has started, and closes the database.
func (s *Store) Close() error {
	var errs []error
	for i := len(s.shut) - 1; i >= 0; i-- {
		errs = append(errs, s.shut[i]())
	}
	s.shut = nil
	return errors.Join(errs...)
}

// watchers are who waits for news, each of one run or, by "", of all.
type watchers struct {
	mu sync.Mutex
	of map[chan struct{}]string
}

// Watch gives a channel on which something arrives after this process has stored a record or the row of the run; with
// the run "" after that of any run. News that is not fetched is one piece. stop ends it.
func (s *Store) Watch(run string) (news <-chan struct{}, stop func()) {
	c, w := make(chan struct{}, 1), &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of[c] = run
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.of, c)
	}
}

// notify tells watchers of a run and of all runs.
func (s *Store) notify(run string) {
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	for c, of := range s.watchers.of {
		if of != run && of != "" {
			continue
		}
		select {
		case c <- struct{}{}:
		default: // the last news are not fetched yet
		}
	}
}
