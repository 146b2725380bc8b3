package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/postgres"
	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestAnotherVersionIsRefused(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		ok(t, w.exec(within(t), "", "UPDATE ralph_about SET value = 99 WHERE name = 'version'"))
		ok(t, w.Close())
		s, err := Open(within(t), w.options)
		if !invalid.Is(err) || !strings.Contains(err.Error(), "version 99") {
			t.Fatal(s, err)
		}
		s = &Store{clock: w.options.Clock}
		ok(t, s.connect(within(t), w.options))
		ok(t, s.exec(within(t), "", "UPDATE ralph_about SET value = ? WHERE name = 'version'", schemaVersion))
		ok(t, s.close())
		w.open(t)
	})
}

func TestASecondProcessOnOneFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d#e%20") // of which SQLite's address means none
	first := got[*Store](t)(Open(within(t), Options{Dir: dir}))
	_, err := Open(within(t), Options{Dir: dir})
	if !invalid.Is(err) || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	ok(t, first.Close())
	again := got[*Store](t)(Open(within(t), Options{Dir: dir}))
	ok(t, again.Close())
	for _, name := range []string{File, lockFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Error(name, info, err)
		}
	}
}

// TestManyOpenOnePostgres: any number of servers begin on an empty database at once.
func TestManyOpenOnePostgres(t *testing.T) {
	o := Options{URL: postgres.Start(t), Keys: keysFor(t, key1)}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := Open(within(t), o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestAddressesOfADatabase(t *testing.T) {
	for _, address := range []string{"mysql://u:hunter2@h/d", "postgres://u:hunter2@h:port/d", "://hunter2", "hunter2",
		"postgres://u:hunter2@h/d?sslmode=hunter3", "postgres://u:hunter2@h/d?pool_max_conns=x"} {
		_, err := Open(within(t), Options{URL: address})
		if !invalid.Is(err) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := Open(context.Background(), Options{}); err == nil {
		t.Error("neither address nor directory")
	}
}

func TestHandles(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		db, pool := w.Handles()
		if (db != nil) == (pool != nil) || (db != nil) != (w.kind == kindSQLite) {
			t.Fatal(db, pool)
		}
		var n int
		if pool != nil {
			ok(t, pool.QueryRow(within(t), "SELECT count(*) FROM ralph_runs").Scan(&n))
		} else {
			ok(t, db.QueryRowContext(within(t), "SELECT count(*) FROM ralph_runs").Scan(&n))
			var synced, vacuum int
			ok(t, db.QueryRowContext(within(t), "PRAGMA synchronous").Scan(&synced))
			ok(t, db.QueryRowContext(within(t), "PRAGMA auto_vacuum").Scan(&vacuum))
			if synced != 2 || vacuum != 2 {
				t.Error(synced, vacuum)
			}
		}
		ok(t, w.Check(within(t)))
		ok(t, w.Check(within(t)))
	})
}
