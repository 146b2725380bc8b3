package store

import (
	"context"
	"database/sql"
	_ "embed" // the tables
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/semaphore"
	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Options say where the database is.
type Options struct {
	// Dir has the database, the file File. It is made, with mode 0700, if it does not exist.
	Dir string
	// Keys seal what is secret. Without keys Seal, Unseal and sessions fail. See LoadKeys.
	Keys Keys
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// Beside opens the file beside a server that uses it, to read: for a backup. Nothing can be stored then.
	Beside bool
}

// Open opens the database, and makes it if it does not exist. It refuses, with an error that package invalid marks, a
// database of another program, a file that another process uses, and keys that do not open what is sealed.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := newStore(o)
	err := s.open(ctx, o.Beside)
	if err == nil && !o.Beside && len(s.keys.of) > 0 {
		err = s.checkKeys(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.work()
	return s, nil
}

func newStore(o Options) *Store {
	s := &Store{clock: o.Clock, keys: o.Keys, dir: o.Dir, turn: semaphore.NewWeighted(1),
		arriving: make(chan *arrival, mostArriving), closed: make(chan struct{}), watchers: watchers{of: map[chan struct{}]string{}}}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

// Check writes one small row. An error says why nothing can be stored now.
func (s *Store) Check(ctx context.Context) error {
	return s.mark(ctx, "checking the database", "checked", s.clock())
}

// mark stores a time by a name. An earlier one does not replace a later one.
func (s *Store) mark(ctx context.Context, doing, name string, at time.Time) error {
	return s.exec(ctx, doing, `INSERT INTO ralph_about (name, at) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET at = max(at, excluded.at)`, name, at)
}

// File is the database's name in its directory; lockFile's owner may write to it.
const (
	File     = "ralph.db"
	lockFile = "ralph.lock"
)

// connections of the store to its file: one writes, the others read.
const connections = 6

//go:embed schema.sql
var schema string

// schemaVersion is the version of the tables. A database or a backup with another one is refused.
const schemaVersion = 6

// open takes the lock, opens the file, and makes its tables if it is new; beside another process it only reads.
func (s *Store) open(ctx context.Context, beside bool) (err error) {
	file := filepath.Join(s.dir, File)
	if beside {
		if _, err := os.Stat(file); err != nil {
			return invalid.Errorf("%s: there is no such database; name the directory that ralph serve --data has", file)
		}
		s.db, err = s.openFile(file, "ro", "busy_timeout(8000)")
	} else if err = s.lock(ctx); err == nil {
		// FULL: what was acknowledged survives a loss of power. Checkpoints are made in the background. Incremental
		// vacuum gives back what Forget has freed.
		s.db, err = s.openFile(file, "rw", "busy_timeout(8000)", "auto_vacuum(2)", "journal_mode(WAL)", "synchronous(FULL)",
			"foreign_keys(1)", "wal_autocheckpoint(0)", "journal_size_limit(67108864)")
	}
	if err != nil {
		return err
	}
	version, err := one[int](ctx, s, "reading the version of the tables", "PRAGMA user_version")
	switch {
	case err == nil && version == 0 && !beside:
		err = s.exec(ctx, "making the tables", fmt.Sprintf("%s; PRAGMA user_version = %d", schema, schemaVersion))
	case err == nil && version != schemaVersion:
		err = invalid.Errorf("the tables of the database have version %d, this program has version %d: use the ralph that "+
			"wrote them, or restore a backup", version, schemaVersion)
	}
	return err
}

// openFile makes a handle with the pragmas that every connection needs. immediate: a transaction takes its turn to
// write when it begins, since one that only wants it later fails at once.
func (s *Store) openFile(file, mode string, pragmas ...string) (*sql.DB, error) {
	if mode == "rw" { // only we may read it, whatever its directory was before
		made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the database: %w", err)
		}
		_ = made.Close()
	}
	options := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": pragmas, "_inttotime": {"1"},
		"_time_integer_format": {"unix_micro"}}
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", file, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s.shut = append(s.shut, db.Close)
	return db, nil
}

// lock keeps every other process out. A transaction that stays open in a file of its own is a lock of the system on all
// of them, and ends with the process.
func (s *Store) lock(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of the database: %w", err)
	}
	lock, err := s.openFile(filepath.Join(s.dir, lockFile), "rw", "busy_timeout(100)")
	if err != nil {
		return err
	}
	held, err := lock.Conn(ctx)
	if err == nil {
		s.shut = append(s.shut, held.Close)
		_, err = held.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if code := sqliteCode(err); code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED {
		return invalid.Errorf("%s is in use by another process: one ralph serve at a time can have it. "+
			"Stop the other one, or name another directory with --data", filepath.Join(s.dir, File))
	}
	return failed(ctx, err)
}

const (
	// everyCheckpoint is how often what was written to SQLite's log is copied into its file. No one waits for that.
	everyCheckpoint = 500 * time.Millisecond
	// longestLog is how many pages, of 4 KB, the log has before writers wait until all of it is copied and it begins
	// again. Under steady writing there is always something left, and it would grow forever.
	longestLog = 4000
)

// work makes checkpoints until the database is closed, since SQLite would have a writer make one in between and all
// others wait.
func (s *Store) work() {
	s.loops.Go(func() {
		for {
			select {
			case <-s.closed:
				return
			case <-time.After(everyCheckpoint):
				s.checkpoint(context.Background())
			}
		}
	})
	s.shut = append(s.shut, func() error {
		close(s.closed)
		s.loops.Wait()
		return nil
	})
}

// checkpoint copies the log, and has it begin again when it is long. Errors are left to the next write: a disk that
// takes no copy takes no new record either, and the log is tried again.
func (s *Store) checkpoint(ctx context.Context) {
	var busy, pages, copied int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied); err != nil ||
		pages < longestLog || s.turn.Acquire(ctx, 1) != nil {
		return
	}
	defer s.turn.Release(1)
	_ = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &copied) // only a little is left
}
