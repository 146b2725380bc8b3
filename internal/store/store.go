// Package store is the door to the database of `ralph serve`: deliveries, runs with their records, spend, the audit
// log, secrets and sessions. It is a SQLite file for one process or a Postgres for any number of them. The statements
// are the same for both.
//
// Every method takes part of one bargain: when it returns nil, what it stored survives the end of the process and, as
// far as the disk keeps its word, of the machine. Every error that says that the database did not do its part now is an
// ErrUnavailable. Nothing is stored in halves.
package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// patience is how long one statement or transaction may take, with the wait for its turn. GitHub gives up on a
// delivery after ten seconds.
const patience = 8 * time.Second

// kind is which database it is.
type kind int

const (
	kindSQLite kind = iota
	kindPostgres
)

// Store is an open database. Its methods may be called from any number of goroutines.
type Store struct {
	db    *sql.DB
	kind  kind
	clock func() time.Time
	keys  Keys
	dir   string // of the SQLite file; "" for Postgres

	queue handles // for the queue of jobs
	turn  gate    // one writer at a time, where the database has it so
	shut  []func() error

	watchers watchers
	counts   counts
	arrived  locked[arrivals]
}

// handles are the ways into the database that are handed out. They are apart from the store's own, so that a queue with
// a thousand waiting jobs takes no connection from an intake.
type handles struct {
	sqlite   *sql.DB
	postgres *pgxpool.Pool
}

// Handles are for the queue of jobs, which keeps tables of its own beside ours; exactly one is not nil. They are closed
// with the store.
func (s *Store) Handles() (*sql.DB, *pgxpool.Pool) { return s.queue.sqlite, s.queue.postgres }

// close closes what was opened, the last first.
func (s *Store) close() error {
	var errs []error
	for i := len(s.shut) - 1; i >= 0; i-- {
		errs = append(errs, s.shut[i]())
	}
	s.shut = nil
	return errors.Join(errs...)
}

// gate lets one through at a time, in the order of coming. Without it SQLite's writers would wait for each other by
// sleeping, and not in turn. A nil gate is open.
type gate chan struct{}

func (g gate) enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() {
	if g != nil {
		<-g
	}
}

// locked is a mutex with what it guards.
type locked[T any] struct {
	mutex sync.Mutex
	value T
}

func (l *locked[T]) do(fn func(*T)) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	fn(&l.value)
}
