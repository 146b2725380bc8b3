package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Backup writes the whole database as it is at one moment, while others go on. Of SQLite it is a file of SQLite, with
// the tables of the queue; of Postgres it is the rows of the store's own tables, one JSON document a line. What is
// sealed stays sealed: the keys are not in it.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	var err error
	if s.kind == kindPostgres {
		to := bufio.NewWriterSize(w, 1<<16)
		err = errors.Join(s.writeRows(ctx, to), to.Flush())
	} else {
		err = s.writeFile(ctx, w)
	}
	if err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	return nil
}

// writeFile writes a copy that SQLite makes beside its file, so there has to be room for it.
func (s *Store) writeFile(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp(s.dir, "backup")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, File)
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO $1", file); err != nil {
		return failed(ctx, err)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = os.RemoveAll(dir) // now, so that nothing stays when whoever reads has enough; some systems keep what is open
	_, err = io.Copy(w, f)
	return err
}

// magic is how a file of SQLite begins.
const magic = "SQLite format 3\x00"

// Restore makes a new database of a backup, all or nothing. A file of SQLite may be restored into Postgres, and the
// rows of Postgres into a file: then the tables of the queue stay empty. The database must not be there, or have
// nothing in it; keys, if they are given, have to be those of the backup.
func Restore(ctx context.Context, o Options, r io.Reader) error {
	from := bufio.NewReaderSize(r, 1<<16)
	begins, err := from.Peek(len(magic))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the backup: %w", err)
	}
	switch file := string(begins) == magic; {
	case file && o.URL == "":
		err = restoreFile(ctx, o, from)
	case file:
		err = restoreFileAsRows(ctx, o, from)
	default:
		err = restoreRows(ctx, o, from)
	}
	if err != nil {
		return fmt.Errorf("restoring a backup: %w", err)
	}
	return nil
}

// restoreRows stores a stream of rows in the database of the options. Its own keys are looked at at the end, since an
// empty database would take any.
func restoreRows(ctx context.Context, o Options, from io.Reader) error {
	keys := o.Keys
	o.Keys = Keys{}
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	err = s.readRows(ctx, from)
	if err == nil {
		s.keys = keys
		err = s.checkKeys(ctx)
	}
	return errors.Join(err, s.Close())
}

// restoreFileAsRows puts the file into a directory of its own, and its rows into Postgres.
func restoreFileAsRows(ctx context.Context, o Options, from io.Reader) error {
	dir, err := os.MkdirTemp("", "ralph-restore")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := restoreFile(ctx, Options{Dir: dir}, from); err != nil {
		return err
	}
	s, err := Open(ctx, Options{Dir: dir, Beside: true})
	if err != nil {
		return err
	}
	pipe, to := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		to.CloseWithError(s.writeRows(ctx, to))
	}()
	err = restoreRows(ctx, o, pipe)
	pipe.CloseWithError(errors.New("the restore has ended")) // whoever writes still ends, too
	<-written
	return errors.Join(err, s.Close())
}

// restoreFile puts the file in its place, when it is whole.
func restoreFile(ctx context.Context, o Options, from io.Reader) error {
	s := &Store{clock: o.Clock}
	err := s.claim(ctx, o.Dir)
	if err == nil {
		err = s.placeFile(ctx, o.Dir, from)
	}
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	opened, err := Open(ctx, o) // brings the tables up to date, and tries the keys
	if err != nil {
		for _, name := range []string{File, File + "-wal", File + "-shm"} { // none of them was there before
			if gone := os.Remove(filepath.Join(o.Dir, name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
		return err
	}
	return opened.Close()
}

func (s *Store) placeFile(ctx context.Context, dir string, from io.Reader) error {
	place := filepath.Join(dir, File)
	info, err := os.Stat(place) // claiming it has made an empty one
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		return invalid.Errorf("%s already exists: a backup is restored into a new directory", place)
	}
	fresh := place + ".restored"
	defer os.Remove(fresh)
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	whole, err := s.openFile(fresh, 1, true)
	if err != nil {
		return err
	}
	var said string
	if err := whole.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil || said != "ok" {
		return invalid.Errorf("the backup is not whole: SQLite says %q, %v", said, err)
	}
	if err := whole.Close(); err != nil {
		return err
	}
	return os.Rename(fresh, place)
}
