package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// ErrUnavailable is wrapped by every error that is the database's trouble: it is gone, its disk is full, it takes too
// long. What was asked may be asked again later; nothing of it is stored, or all of it, if the answer was lost.
var ErrUnavailable = errors.New("the database is not available")

// ErrNotFound is what is asked for by name and is not there.
var ErrNotFound = errors.New("there is no such row in the database")

// failed says of an error whose it is. What the caller has ended stays the caller's: context.Canceled.
func failed(ctx context.Context, err error) error {
	switch code := sqliteCode(err); {
	case err == nil, errors.Is(err, ErrUnavailable), errors.Is(err, ErrNotFound), invalid.Is(err):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case code != 0 && !troubled(code):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// troubled reports whether a result code of SQLite is not the statement's fault.
func troubled(code int) bool {
	switch code {
	case codeBusy, codeLocked, codeNoMemory, codeReadOnly, codeInterrupted, codeIO, codeCorrupt, codeFull, codeCannotOpen,
		codeProtocol, codeNotPermitted, auth, codeNoDatabase:
		return true
	}
	return false
}

// The primary result codes of SQLite that say that it is not the statement's fault.
const (
	codeBusy, codeLocked, codeNoMemory, codeReadOnly, codeInterrupted, codeIO   = 5, 6, 7, 8, 9, 10
	codeCorrupt, codeFull, codeCannotOpen, codeProtocol, codeNotPermitted, auth = 11, 13, 14, 15, 3, 23
	codeNoDatabase                                                              = 26
)

// sqliteCode is the primary result code of an error of SQLite, 0 for others.
func sqliteCode(err error) int {
	var of *sqlite.Error
	if !errors.As(err, &of) {
		return 0
	}
	return of.Code() & 0xff
}

func notFound(doing string) error { return fmt.Errorf("%s: %w", doing, ErrNotFound) }
