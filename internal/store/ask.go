package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// exec executes one statement on its own.
func (s *Store) exec(ctx context.Context, doing, statement string, args ...any) error {
	_, err := s.changed(ctx, doing, statement, args...)
	return err
}

// changed executes one statement on its own and says how many rows it has changed.
func (s *Store) changed(ctx context.Context, doing, statement string, args ...any) (n int64, err error) {
	err = s.writing(ctx, doing, func(ctx context.Context) error {
		done, err := s.db.ExecContext(ctx, statement, args...)
		if err == nil {
			n, err = done.RowsAffected()
		}
		return err
	})
	return n, err
}

// write runs fn in one transaction: all of it is stored, or nothing.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.writing(ctx, doing, func(ctx context.Context) error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
		if err := fn(&transaction{ctx, tx}); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// writing waits for its turn.
func (s *Store) writing(ctx context.Context, doing string, fn func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.turn.enter(within)
	if err == nil {
		err = fn(within)
		s.turn.leave()
	}
	if err = failed(ctx, err); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
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

// one reads one row of a transaction.
func (t *transaction) one(statement string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, statement, args...)
}

// scan reads the columns of a row.
type scan func(columns ...any) error

// column reads a row of one column.
func column[T any](row scan) (v T, err error) {
	err = row(&v)
	return v, err
}

// question is a statement that reads, with what it is for.
type question struct {
	doing string
	text  strings.Builder
	args  []any
}

func ask(doing, text string, args ...any) *question {
	q := &question{doing: doing}
	return q.and(text, args...)
}

// and adds a piece of the statement.
func (q *question) and(text string, args ...any) *question {
	q.text.WriteString(" " + text)
	q.args = append(q.args, args...)
	return q
}

// andIf adds a piece only under a condition.
func (q *question) andIf(condition bool, text string, args ...any) *question {
	if condition {
		return q.and(text, args...)
	}
	return q
}

// in adds "AND column is one of". A nil list asks for nothing; an empty one lets nothing through.
func (q *question) in(column string, names []string) *question {
	if names == nil {
		return q
	}
	if len(names) == 0 {
		return q.and("AND 1 = 0")
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = name
	}
	return q.and("AND "+column+" IN (?"+strings.Repeat(", ?", len(names)-1)+")", args...)
}

// list answers a question with all its rows.
func list[T any](ctx context.Context, s *Store, q *question, read func(scan) (T, error)) ([]T, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := rowsOf(within, s.db, q, read)
	if err = failed(ctx, err); err != nil {
		return nil, fmt.Errorf("%s: %w", q.doing, err)
	}
	return found, nil
}

// one answers a question with its only row; ErrNotFound if there is none.
func one[T any](ctx context.Context, s *Store, q *question, read func(scan) (T, error)) (T, error) {
	found, err := list(ctx, s, q, read)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: %w", q.doing, ErrNotFound)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

// asker is a handle or a transaction.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func rowsOf[T any](ctx context.Context, of asker, q *question, read func(scan) (T, error)) (found []T, err error) {
	rows, err := of.QueryContext(ctx, q.text.String(), q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// micros is how times are stored: microseconds since 1970, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// several is how many rows a page has: what was asked for, between 1 and most.
func several(limit, most int) int {
	if limit <= 0 {
		return min(100, most)
	}
	return min(limit, most)
}
