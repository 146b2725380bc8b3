// Package store is the door to the database of `ralph serve`: deliveries, runs with their records, spend, the audit log,
// secrets and sessions. It is a SQLite file for one process or a Postgres for any number of them. The statements are
// the same for both.
//
// Every method takes part of one bargain: when it returns nil, what it stored survives the end of the process and, as
// far as the disk keeps its word, of the machine. Every error that says that the database did not do its part now is an
// ErrUnavailable. Nothing is stored in halves.
package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// patience is how long one statement or transaction may take, with the wait for its turn. GitHub gives up on a
// delivery after ten seconds.
const patience = 8 * time.Second

// Options say where the database is.
type Options struct {
	// URL is a Postgres, "postgres://user@host/name". Without it the database is the file Dir/ralph.db.
	URL string
	// Dir is made, with mode 0700, if it is not there.
	Dir string
	// Keys seal what is secret. Without keys Seal, Unseal and sessions fail. See LoadKeys.
	Keys Keys
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// Beside opens the file beside a server that uses it, to read: for a backup. Nothing can be stored then.
	Beside bool
}

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
}

// handles are the ways into the database that are handed out. They are apart from the store's own, so that a queue with
// a thousand waiting jobs takes no connection from an intake.
type handles struct {
	sqlite   *sql.DB
	postgres *pgxpool.Pool
}

// Open opens the database, makes it if it is not there, and brings its tables up to date. It refuses, with an error
// that package invalid marks, a database of a newer program, a file that another process uses, and keys that do not
// open what is sealed.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{clock: o.Clock, keys: o.Keys}
	if s.clock == nil {
		s.clock = time.Now
	}
	err := s.connect(ctx, o)
	if err == nil && !o.Beside {
		err = s.migrate(ctx)
	}
	if err == nil {
		err = s.known(ctx)
	}
	if err == nil && !o.Beside {
		err = s.checkKeys(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if !o.Beside {
		s.beginCounting()
	}
	return s, nil
}

// connect opens what the options name.
func (s *Store) connect(ctx context.Context, o Options) error {
	if o.URL == "" {
		return s.openSQLite(ctx, o)
	}
	where, err := url.Parse(o.URL)
	if err != nil || !strings.HasPrefix(where.Scheme, "postgres") {
		// Neither the address nor the parser's error is quoted: there is a password in them.
		return invalid.Errorf("the address of the database is not one of Postgres: " +
			"it has to be like postgres://user:password@host:5432/name")
	}
	return s.openPostgres(ctx, o.URL)
}

// Handles are for the queue of jobs, which keeps tables of its own beside ours; exactly one is not nil. They are closed
// with the store.
func (s *Store) Handles() (*sql.DB, *pgxpool.Pool) { return s.queue.sqlite, s.queue.postgres }

// Check writes one small row. An error says why nothing can be stored now.
func (s *Store) Check(ctx context.Context) error {
	return s.exec(ctx, "checking the database",
		`INSERT INTO ralph_about (name, value) VALUES ('checked', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, micros(s.clock()))
}

// Close writes the counters, ends what the store has begun, and closes the handles.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(s.endCounting(ctx), s.close())
}

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
