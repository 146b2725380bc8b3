package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Backup writes the whole database as it is at one moment, a file of SQLite, while a server continues. What is sealed
// stays sealed: the keys are not in it. A copy is made beside the database first, so there has to be room for it.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp(s.dir, "backup")
	if err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, File)
	if err := s.copyTo(ctx, file); err != nil {
		return fmt.Errorf("making a backup: %w", failed(ctx, err))
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	defer f.Close()
	_ = os.RemoveAll(dir) // now, so that nothing stays when whoever reads has enough; some systems keep what is open
	if _, err = io.Copy(w, f); err != nil {
		return fmt.Errorf("writing the backup: %w", err)
	}
	return nil
}

// copyTo copies the database by SQLite's online backup.
func (s *Store) copyTo(ctx context.Context, file string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(of any) error {
		backup, err := of.(interface { //nolint:forcetypeassert // it is a connection of this driver
			NewBackup(to string) (*sqlite.Backup, error)
		}).NewBackup(file)
		if err != nil {
			return err
		}
		_, err = backup.Step(-1) // all pages at once, under one read lock: no writer waits for it
		return errors.Join(err, backup.Finish())
	})
}

// Restore makes a new database of a backup, all or nothing: the file is examined and the keys, if they are given, are
// tried before anything of it is in its place. There must be no database in the directory.
func Restore(ctx context.Context, o Options, from io.Reader) (err error) {
	s := newStore(o)
	defer func() {
		if err = errors.Join(err, s.Close()); err != nil {
			err = fmt.Errorf("restoring a backup: %w", err)
		}
	}()
	if err := s.lock(ctx); err != nil {
		return err
	}
	place := filepath.Join(o.Dir, File)
	if _, err := os.Stat(place); err == nil {
		return invalid.Errorf("%s already exists: name another directory with --data", place)
	}
	dir, err := os.MkdirTemp(o.Dir, "restore")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, File)
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	o.Dir = dir
	if err := examine(ctx, o); err != nil {
		return err
	}
	return os.Rename(fresh, place)
}

// examine refuses a file that is not a whole database of this program, or that the keys do not open.
func examine(ctx context.Context, o Options) (err error) {
	s := newStore(o)
	defer func() { err = errors.Join(err, s.Close()) }()
	said := ""
	if err = s.open(ctx, true); err == nil {
		said, err = one[string](ctx, s, "checking the backup", "PRAGMA quick_check(1)")
	}
	switch {
	case err == nil && said == "ok" && len(o.Keys.of) > 0:
		return s.checkKeys(ctx)
	case invalid.Is(err) || err == nil && said == "ok":
		return err
	}
	return invalid.Errorf("the backup is not a whole SQLite file: %q, %v", said, err)
}
