// Package store is the door to the database of `ralph serve`: deliveries, runs with their records, the audit log,
// secrets and sessions, in one SQLite file of one process.
//
// Every method takes part of one bargain: when it returns nil, what it stored survives the end of the process and, as
// far as the disk keeps its word, of the machine. Every error that says that the database did not do its part now is an
// ErrUnavailable. Nothing is stored in halves.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ralph-loop/ralph/internal/invalid"
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
	arriving chan *arrival // read with the turn
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

// ErrUnavailable is wrapped by every error that is the database's trouble: it is gone, its disk is full, it takes too
// long. The call can be repeated later; nothing of it is stored, or all of it if the answer was lost.
var ErrUnavailable = errors.New("the database is not available")

// ErrNotFound is returned when a row with the given name does not exist.
var ErrNotFound = errors.New("there is no such row in the database")

// faults are the result codes of SQLite that say that it is the statement's fault.
var faults = []int{sqlite3.SQLITE_ERROR, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH,
	sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE}

// failed says of an error whose it is. What the caller has ended stays the caller's: context.Canceled.
func failed(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrUnavailable), errors.Is(err, ErrNotFound), invalid.Is(err),
		slices.Contains(faults, sqliteCode(err)):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// sqliteCode is the primary result code of an error of SQLite, 0 for others.
func sqliteCode(err error) int {
	var of *sqlite.Error
	if !errors.As(err, &of) {
		return 0
	}
	return of.Code() & 0xff
}

// exec executes one statement on its own.
func (s *Store) exec(ctx context.Context, doing, statement string, args ...any) error {
	_, err := s.changed(ctx, doing, statement, args...)
	return err
}

// must executes a statement that has to change a row: ErrNotFound otherwise.
func (s *Store) must(ctx context.Context, doing, statement string, args ...any) error {
	n, err := s.changed(ctx, doing, statement, args...)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	return err
}

// changed executes one statement on its own and says how many rows it has changed.
func (s *Store) changed(ctx context.Context, doing, statement string, args ...any) (n int64, err error) {
	err = s.write(ctx, doing, func(t *transaction) error {
		n, err = t.exec(statement, args...)
		return err
	})
	return n, err
}

// write runs fn in one transaction, in the order of coming: all of it is stored, or nothing.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.turn.Acquire(within, 1)
	if err == nil {
		err = s.transact(within, fn)
		s.turn.Release(1)
	}
	if err = failed(ctx, err); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// transact is write without its turn.
func (s *Store) transact(ctx context.Context, fn func(*transaction) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := fn(&transaction{ctx, tx}); err != nil {
		return err
	}
	return tx.Commit()
}

const (
	mostTogether = 100 // arrivals of one write, so that each write ends in time
	mostArriving = 1000
)

// arrival is a write that is stored together with others.
type arrival struct {
	waits context.Context // the caller's
	do    func(*transaction) error
	done  bool
	err   error
}

// together runs do in one transaction with what comes while another one is written: a disk that is slow to sync makes
// callers wait for one sync, and not for each other's. The first that has its turn stores them.
func (s *Store) together(ctx context.Context, do func(*transaction) error) error {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := &arrival{waits: within, do: do}
	select {
	case s.arriving <- own:
	case <-within.Done():
		return failed(ctx, within.Err())
	}
	if err := s.turn.Acquire(within, 1); err != nil {
		return failed(ctx, err)
	}
	defer s.turn.Release(1)
	for !own.done {
		s.storeSome()
	}
	return own.err
}

// storeSome stores arrivals whose callers still wait. Its caller has the turn.
func (s *Store) storeSome() {
	var some []*arrival
	for range min(len(s.arriving), mostTogether) { // no one else takes any out
		some = append(some, <-s.arriving)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := failed(ctx, s.transact(ctx, func(t *transaction) error {
		for _, a := range some {
			if a.waits.Err() != nil {
				continue
			}
			if err := a.do(t); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, a := range some {
		a.done, a.err = true, err
		if err != nil && !errors.Is(err, ErrUnavailable) && len(some) > 1 { // one of them may be why
			a.err = failed(ctx, s.transact(ctx, a.do))
		}
	}
}

// transaction executes the statements of one transaction.
type transaction struct {
	ctx context.Context
	tx  *sql.Tx
}

// exec executes a statement and says how many rows it has changed.
func (t *transaction) exec(statement string, args ...any) (int64, error) {
	done, err := t.tx.ExecContext(t.ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// insert stores a row of a table whose columns are the fields of row in their order. The first may be a number, which
// the database gives where it is 0.
func (t *transaction) insert(table string, row any, rest string) error {
	of := fields(reflect.ValueOf(row).Elem())
	_, err := t.exec("INSERT INTO "+table+" VALUES (nullif(?, 0)"+strings.Repeat(", ?", len(of)-1)+")"+rest, of...)
	return err
}

// fields are where the columns of a row are: its fields in order, with those of the structs in it, or the row itself.
func fields(row reflect.Value) (all []any) {
	if row.Kind() != reflect.Struct || row.Type() == reflect.TypeFor[time.Time]() {
		return []any{row.Addr().Interface()}
	}
	for _, field := range row.Fields() {
		all = append(all, fields(field)...)
	}
	return all
}

// list answers a query with all its rows, whose columns are the fields of T in their order.
func list[T any](ctx context.Context, s *Store, doing, query string, args ...any) ([]T, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := rowsOf[T](within, s.db, query, args...)
	if err = failed(ctx, err); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return found, nil
}

// one answers a query with its first row, or ErrNotFound.
func one[T any](ctx context.Context, s *Store, doing, query string, args ...any) (row T, err error) {
	found, err := list[T](ctx, s, doing, query, args...)
	switch {
	case err != nil:
		return row, err
	case len(found) == 0:
		return row, fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	return found[0], nil
}

// querier is a handle or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func rowsOf[T any](ctx context.Context, of querier, query string, args ...any) (found []T, err error) {
	rows, err := of.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(reflect.ValueOf(&row).Elem())...); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// Filter selects the rows of a page, the newest first. Empty fields ask for nothing.
type Filter struct {
	Repositories []string  // nil for all; an empty list for none
	States       []string  // of runs; nil for all, an empty list for none
	NotBy        string    // of deliveries: without those of this sender
	Since        time.Time // of runs: created then or later
	Before       int64     // only smaller numbers: the number of the last one of the page before
	Limit        int       // at most 1000; by default 100
}

// page answers a query, which ends with a condition, with the rows that a filter selects.
func page[T any](ctx context.Context, s *Store, doing, query string, f Filter) ([]T, error) {
	query, args := f.and(query)
	return list[T](ctx, s, doing, query+" ORDER BY number DESC LIMIT ?", append(args, limited(f.Limit, 10_000))...)
}

// and adds the filter's conditions to a query.
func (f Filter) and(query string) (string, []any) {
	var args []any
	for _, c := range []struct {
		asked     bool
		condition string
		arg       any
	}{
		{f.Repositories != nil, "repository IN (SELECT value FROM json_each(?))", listed(f.Repositories)},
		{f.States != nil, "state IN (SELECT value FROM json_each(?))", listed(f.States)},
		{f.NotBy != "", "sender <> ?", f.NotBy},
		{!f.Since.IsZero(), "created >= ?", f.Since},
		{f.Before != 0, "number < ?", f.Before},
	} {
		if c.asked {
			query += " AND " + c.condition
			args = append(args, c.arg)
		}
	}
	return query, args
}

// listed is a list as SQLite takes it in one argument.
func listed(names []string) string {
	text, _ := json.Marshal(names) // of strings
	return string(text)
}

// limited is the highest number of rows: limit, or 100 where it is 0, up to most.
func limited(limit, most int) int { return min(cmp.Or(limit, 100), most) }
