package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Options say where the database is.
type Options struct {
	// Dir has the database, the file File. It is made, with mode 0700, if it is not there.
	Dir string
	// Keys seal what is secret. Without keys Seal, Unseal and sessions fail. See LoadKeys.
	Keys Keys
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// Beside opens the file beside a server that uses it, to read: for a backup. Nothing can be stored then.
	Beside bool
}

// Open opens the database, makes it if it is not there, and brings its tables up to date. It refuses, with an error
// that package invalid marks, a database of a newer program, a file that another process uses, and keys that do not
// open what is sealed.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{clock: o.Clock, keys: o.Keys, dir: o.Dir, turn: make(gate, 1), arriving: make(chan *arrived, mostArriving),
		closed: make(chan struct{})}
	if s.clock == nil {
		s.clock = time.Now
	}
	err := s.openSQLite(ctx, o)
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
		return nil, errors.Join(err, s.Close())
	}
	go s.storeArriving()
	s.shut = append(s.shut, func() error { close(s.closed); return nil })
	return s, nil
}

// Check writes one small row. An error says why nothing can be stored now.
func (s *Store) Check(ctx context.Context) error {
	return s.exec(ctx, "checking the database",
		`INSERT INTO ralph_about (name, value) VALUES ('checked', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, micros(s.clock()))
}

// File is the database's name in its directory; lockFile's owner may write to it.
const (
	File     = "ralph.db"
	lockFile = "ralph.lock"
)

// connections of the store to its file: one writes, the others read.
const connections = 6

// openSQLite takes the lock and opens the file.
func (s *Store) openSQLite(ctx context.Context, o Options) error {
	file := filepath.Join(o.Dir, File)
	if o.Beside {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return invalid.Errorf("%s: there is no such database; name the directory that ralph serve --data has", file)
		}
	} else if err := s.lock(ctx); err != nil {
		return err
	} else if err := touch(file); err != nil {
		return err
	}
	var err error
	if s.db, err = s.openFile(file, connections, o.Beside); err == nil && !o.Beside {
		s.beginCheckpoints()
	}
	return err
}

// openFile makes a handle with the pragmas that every connection needs.
//
// FULL: what was acknowledged survives a loss of power. immediate: a transaction takes its turn to write when it
// begins, since one that only wants it later fails at once. Checkpoints are made in the background. Incremental vacuum
// gives back what Forget has freed.
func (s *Store) openFile(file string, most int, readOnly bool) (*sql.DB, error) {
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(8000)", "auto_vacuum(2)",
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "wal_autocheckpoint(0)", "journal_size_limit(67108864)"}}
	if readOnly {
		options = url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(8000)"}}
	}
	at.RawQuery = options.Encode()
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", file, err)
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	s.shut = append(s.shut, db.Close)
	return db, nil
}

// touch makes a file that only we may read, whatever its directory was before, unless it is there.
func touch(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	return f.Close()
}

// lock keeps every other process out. A transaction that stays open in a file of its own is a lock of the system on all
// of them, and ends with the process.
func (s *Store) lock(ctx context.Context) error {
	if s.dir == "" {
		return errors.New("opening the database: no directory is given")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of the database: %w", err)
	}
	file := filepath.Join(s.dir, lockFile)
	if err := touch(file); err != nil {
		return err
	}
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "_pragma=busy_timeout(100)"}
	lock, err := sql.Open("sqlite", at.String())
	if err != nil {
		return err
	}
	s.shut = append(s.shut, lock.Close)
	held, err := lock.Conn(ctx)
	if err == nil {
		_, err = held.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err == nil {
		s.shut = append(s.shut, held.Close)
		return nil
	}
	if code := sqliteCode(err); code == codeBusy || code == codeLocked {
		return invalid.Errorf("%s is in use by another process: one ralph serve at a time can have it. "+
			"Stop the other one, or name another directory with --data", filepath.Join(s.dir, File))
	}
	return fmt.Errorf("locking %s: %w", file, failed(ctx, err))
}

const (
	// everyCheckpoint is how often what was written to SQLite's log is copied into its file. Nobody waits for that.
	everyCheckpoint = 500 * time.Millisecond
	// longestLog is how many pages, of 4 KB, the log has before writers wait until all of it is copied and it begins anew.
	// Under steady writing there is always something left, and it would grow for ever.
	longestLog = 4000
)

// beginCheckpoints copies the log in the background. SQLite would have a writer do it in between, and all others wait.
func (s *Store) beginCheckpoints() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(everyCheckpoint)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.checkpoint(ctx)
			}
		}
	}()
	s.shut = append(s.shut, func() error {
		cancel()
		<-done
		return nil
	})
}

// checkpoint copies the log, and has it begin anew when it is long. Errors are left to whoever writes next: a disk that
// takes no copy takes no new record either, and the log is tried again.
func (s *Store) checkpoint(ctx context.Context) {
	var busy, pages, copied int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied); err != nil ||
		pages < longestLog || s.turn.enter(ctx) != nil {
		return
	}
	defer s.turn.leave()
	_ = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &copied) // only a little is left
}
