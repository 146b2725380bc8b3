package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// ErrUnavailable is wrapped by every error that is the database's trouble: it is gone, its disk is full, it takes too
// long. What was asked may be asked again later; nothing of it is stored, or all of it, if the answer was lost.
var ErrUnavailable = errors.New("the database is not available")

// ErrNotFound is what is asked for by name and does not exist.
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
