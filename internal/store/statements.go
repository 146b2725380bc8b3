package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

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

// write runs fn in one transaction: all of it is stored, or nothing.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.inTurn(ctx, doing, func(ctx context.Context) error { return s.transact(ctx, fn) })
}

// inTurn waits until no one else writes.
func (s *Store) inTurn(ctx context.Context, doing string, fn func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.turn.Acquire(within, 1)
	if err == nil {
		err = fn(within)
		s.turn.Release(1)
	}
	if err = failed(ctx, err); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// transact is write for whoever has the turn.
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

// transaction is what statements of one transaction are asked of.
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

// one answers a query with its first row; ErrNotFound if there is none.
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
	Since        time.Time // of runs: created then or later; of spend: from its day on
	Before       int64     // only smaller numbers: the number of the last one of the page before
	Limit        int       // at most 1000, of spend 10,000; by default 100
}

// page answers a query, which ends with a condition, with the rows that a filter selects.
func page[T any](ctx context.Context, s *Store, doing, query string, f Filter) ([]T, error) {
	query, args := f.and(query, "created >= ?", f.Since)
	return list[T](ctx, s, doing, query+" ORDER BY number DESC LIMIT ?", append(args, limited(f.Limit, 1000))...)
}

// and adds the filter's conditions to a query. since is that of the time from which on rows are needed.
func (f Filter) and(query, since string, from any) (string, []any) {
	var args []any
	for _, c := range []struct {
		asked     bool
		condition string
		arg       any
	}{
		{f.Repositories != nil, "repository IN (SELECT value FROM json_each(?))", listed(f.Repositories)},
		{f.States != nil, "state IN (SELECT value FROM json_each(?))", listed(f.States)},
		{f.NotBy != "", "sender <> ?", f.NotBy},
		{!f.Since.IsZero(), since, from},
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

// limited is how many rows there are at most: what was asked for, or 100, up to most.
func limited(limit, most int) int { return min(cmp.Or(limit, 100), most) }
