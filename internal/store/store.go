// Package store is the door to the database of `ralph serve`: deliveries, runs with their records, spend, the audit
// log, secrets and sessions, in one SQLite file of one process.
//
// Every method takes part of one bargain: when it returns nil, what it stored survives the end of the process and, as
// far as the disk keeps its word, of the machine. Every error that says that the database did not do its part now is an
// ErrUnavailable. Nothing is stored in halves.
package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
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

	turn gate // one writer at a time
	shut []func() error

	watchers watchers
	arriving chan *arrived
	closed   chan struct{}
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

// gate lets one through at a time, in the order of coming. Without it SQLite's writers would wait for each other by
// sleeping, and not in turn.
type gate chan struct{}

func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }
