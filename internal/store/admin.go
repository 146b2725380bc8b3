package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

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
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO ?", file); err != nil { // no writer waits for it
		return fmt.Errorf("making a backup: %w", failed(ctx, err))
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	defer f.Close()
	_ = os.RemoveAll(dir) // now, so that nothing stays when the reader stops early; some systems keep open files
	if _, err = io.Copy(w, f); err != nil {
		return fmt.Errorf("writing the backup: %w", err)
	}
	return nil
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

// RotateKey seals everything with the newest of the keys of a text, or of the file where it is empty, as LoadKeys reads
// them. It returns what the older ones are needed for yet.
func RotateKey(ctx context.Context, o Options, text string) (told string, err error) {
	if o.Keys, err = LoadKeys(text, o.Dir); err != nil {
		return "", err
	}
	if len(o.Keys.of) < 2 {
		return "", invalid.Errorf("there is one key: add the new one, with a higher number, to RALPH_DATA_KEY or to the file %s, "+
			"such as \"1:OLD 2:NEW\"", filepath.Join(o.Dir, keyFile))
	}
	s, err := Open(ctx, o)
	if err != nil {
		return "", err
	}
	err = s.write(ctx, "sealing secrets again", func(t *transaction) error {
		all, err := rowsOf[secret](t.ctx, t.tx, "SELECT * FROM ralph_secrets")
		for _, v := range all {
			if v.Value, err = s.keys.open(v.Name, v.Value); err != nil {
				return err
			}
			if err = s.seal(t, v); err != nil {
				return err
			}
		}
		return err
	})
	return fmt.Sprintf("Everything is sealed with key %d now. The others can go from where the keys are; keep them for backups "+
		"that were made before.", o.Keys.newest), errors.Join(err, s.Close())
}

// Retention says what is forgotten: what is older than these times. What has the zero time stays.
type Retention struct {
	Deliveries time.Time // decided ones: the id of one may come again after that, and would be fresh
	Records    time.Time // of runs that ended before
	Runs       time.Time // that ended before, with their records
	Audit      time.Time
}

// Forget removes what is old, in small pieces, so that no one waits for it long; and sessions that have expired. It may
// be called at any time; a piece that is done stays done.
func (s *Store) Forget(ctx context.Context, r Retention) error {
	records := r.Records
	if r.Runs.After(records) {
		records = r.Runs
	}
	// the database itself keeps the audit log from this time on
	if err := s.mark(ctx, "forgetting the audit log", "audit from", r.Audit); err != nil {
		return err
	}
	for _, old := range []struct {
		before            time.Time
		what, table, rows string
	}{
		// the number is nearly the order of time, so no one reads further than to the first that is young; payloads go
		// along
		{r.Deliveries, "deliveries", "ralph_deliveries", `SELECT rowid FROM ralph_deliveries WHERE decided > 0 AND received < ?1
			AND number < coalesce((SELECT number FROM ralph_deliveries WHERE received >= ?1 ORDER BY number LIMIT 1), 1 << 62)`},
		{records, "records", "ralph_records", `SELECT r.rowid FROM ralph_runs JOIN ralph_records AS r ON r.run = id
			WHERE ended > 0 AND ended < ?1`},
		{r.Runs, "what was said to runs", "ralph_words", `SELECT w.rowid FROM ralph_runs JOIN ralph_words AS w ON w.run = id
			WHERE ended > 0 AND ended < ?1`},
		{r.Runs, "runs", "ralph_runs", "SELECT rowid FROM ralph_runs WHERE ended > 0 AND ended < ?1"},
		{r.Audit, "the audit log", "ralph_audit", "SELECT rowid FROM ralph_audit WHERE at < ?1"},
		{s.clock(), "sessions", "ralph_secrets", "SELECT rowid FROM ralph_secrets WHERE expires > 0 AND expires <= ?1"},
	} {
		statement := "DELETE FROM " + old.table + " WHERE rowid IN (" + old.rows + " LIMIT 500)"
		for n := int64(1); n > 0; {
			var err error
			if n, err = s.changed(ctx, "forgetting "+old.what, statement, old.before); err != nil {
				return err
			}
		}
	}
	for before := 0; ; { // the file gets smaller by what is free in it, piece by piece
		free, err := one[int](ctx, s, "reading how much of the file is free", "PRAGMA freelist_count")
		if err != nil || free == 0 || free == before { // the last is of a file that was made without this
			return err
		}
		before = free
		if err = s.write(ctx, "giving free space back", func(t *transaction) error {
			_, err := rowsOf[struct{}](t.ctx, t.tx, "PRAGMA incremental_vacuum(1000)")
			return err
		}); err != nil {
			return err
		}
	}
}
