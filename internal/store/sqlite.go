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

	"github.com/ralph-loop/ralph/internal/invalid"
)

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
