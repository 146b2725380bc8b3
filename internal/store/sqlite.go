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

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// File is the database's name in its directory; lockFile's owner may write to it.
const (
	File     = "ralph.db"
	lockFile = "ralph.lock"
)

const (
	connections = 6 // of the store to its file: one writes, the others read
	ofTheQueue  = 6
)

// openSQLite takes the lock and opens the file.
func (s *Store) openSQLite(ctx context.Context, o Options) error {
	file := filepath.Join(o.Dir, File)
	if o.Beside {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return invalid.Errorf("%s: there is no such database; name the directory that ralph serve --data has", file)
		}
	} else if err := s.claim(ctx, o.Dir); err != nil {
		return err
	}
	s.kind, s.dir = kindSQLite, o.Dir
	var err error
	if s.db, err = s.openFile(file, connections, o.Beside); err != nil || o.Beside {
		return err
	}
	s.turn = make(gate, 1)
	if s.queue.sqlite, err = s.openFile(file, ofTheQueue, false); err != nil {
		return err
	}
	s.beginCheckpoints()
	return nil
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

// claim keeps every other process out. A transaction that stays open in a file of its own is a lock of the system on
// all of them, and ends with the process.
func (s *Store) claim(ctx context.Context, dir string) error {
	if dir == "" {
		return errors.New("store: neither a URL nor a directory of the database is given")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of the database: %w", err)
	}
	file := filepath.Join(dir, lockFile)
	// Only we may read any of it, whatever the directory was before.
	for _, name := range []string{file, filepath.Join(dir, File)} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fmt.Errorf("opening the database: %w", err)
		}
		if err := f.Close(); err != nil {
			return err
		}
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
			"Stop the other one, name another directory with --data, or let several share a Postgres (DATABASE_URL)",
			filepath.Join(dir, File))
	}
	return fmt.Errorf("locking %s: %w", file, failed(ctx, err))
}

// openPostgres makes two pools, one for the store and one for the queue. Each is as large as pool_max_conns in the
// address says, or eight.
func (s *Store) openPostgres(ctx context.Context, address string) error {
	s.kind = kindPostgres
	own, err := s.pool(ctx, address)
	if err != nil {
		return err
	}
	s.db = stdlib.OpenDBFromPool(own)
	s.shut = append(s.shut, s.db.Close)
	s.queue.postgres, err = s.pool(ctx, address)
	return err
}

func (s *Store) pool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, invalid.Errorf("the address of the database cannot be read: %v", err) // pgx leaves the password out
	}
	if _, said := config.ConnConfig.RuntimeParams["application_name"]; !said {
		config.ConnConfig.RuntimeParams["application_name"] = "ralph"
	}
	config.MaxConns = max(config.MaxConns, 8)
	config.ConnConfig.ConnectTimeout = min(or(config.ConnConfig.ConnectTimeout, patience), patience)
	config.HealthCheckPeriod = 15 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", failed(ctx, err))
	}
	s.shut = append(s.shut, func() error { pool.Close(); return nil })
	return pool, nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
