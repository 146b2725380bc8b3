package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/postgres"
	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestANewerDatabaseIsRefused(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		ok(t, w.exec(within(t), "", "UPDATE ralph_about SET value = 99 WHERE name = 'version'"))
		ok(t, w.Close())
		s, err := Open(within(t), w.options)
		if !invalid.Is(err) || !strings.Contains(err.Error(), "newer ralph") || !strings.Contains(err.Error(), "version 99") {
			t.Fatal(s, err)
		}
		s = &Store{clock: w.options.Clock}
		ok(t, s.connect(within(t), w.options))
		ok(t, s.exec(within(t), "", "UPDATE ralph_about SET value = ? WHERE name = 'version'", len(migrations())))
		ok(t, s.close())
		w.open(t)
	})
}

// TestPayloadsMoveApart: what version 3 of the tables has of a delivery is there afterwards, and goes with it.
func TestPayloadsMoveApart(t *testing.T) {
	for name, o := range map[string]Options{"sqlite": {Dir: t.TempDir()}, "postgres": {URL: postgres.Start(t)}} {
		t.Run(name, func(t *testing.T) {
			ctx := within(t)
			old := &Store{clock: time.Now}
			ok(t, old.connect(ctx, o))
			statements := `CREATE TABLE ralph_about (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO ralph_about VALUES ('version', 3);
` + strings.Join(migrations()[:3], ";\n") + `;
INSERT INTO ralph_deliveries (id, event, action, installation, repository, sender, received, due, decided, payload)
	VALUES ('kept', 'issues', 'opened', 7, 'o/r', 'alice', 5, 5, 0, 'hello');
INSERT INTO ralph_deliveries (id, event, action, installation, repository, sender, received, due, decided, payload)
	VALUES ('forgotten', 'issues', 'opened', 7, 'o/r', 'alice', 6, 6, 6, NULL)`
			for statement := range strings.SplitSeq(old.kind.words().Replace(statements), ";\n") {
				ok(t, old.exec(ctx, "", statement))
			}
			ok(t, old.close())
			s := got[*Store](t)(Open(ctx, o))
			defer s.Close()
			for id, want := range map[string]string{"kept": "hello", "forgotten": ""} {
				if d := got[Delivery](t)(s.Delivery(ctx, id)); string(d.Payload) != want || d.Sender != "alice" {
					t.Errorf("%s has become %+v", id, d)
				}
			}
			if found := got[[]Delivery](t)(s.Undecided(ctx, 9, time.Minute)); ids(found) != "kept" {
				t.Error("to decide:", ids(found))
			}
			got[bool](t)(s.Deliver(ctx, delivery("new")))
			ok(t, s.DecidedTogether(ctx, map[string]Decision{"kept": {Step: "nothing"}}))
			got[Forgotten](t)(s.Forget(ctx, Retention{Deliveries: time.Now().Add(-time.Hour)}))
			for _, table := range []string{"ralph_deliveries", "ralph_payloads"} {
				if n := got[int](t)(one(ctx, s, ask("", "SELECT count(*) FROM "+table), column[int])); n != 1 {
					t.Errorf("%s has %d rows, want that of the new delivery", table, n)
				}
			}
		})
	}
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
