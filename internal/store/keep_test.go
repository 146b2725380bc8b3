package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestForget(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			d := delivery(fmt.Sprint(i))
			d.Payload = bytes.Repeat([]byte("x"), 5000)
			got[bool](t)(w.Deliver(ctx, d))
			if i != 1 {
				ok(t, w.Decide(ctx, Decided{ID: d.ID, Decision: Decision{Step: "nothing"}}))
			}
		}
	}
	fill(0, 300)
	for _, id := range []string{"ended", "works"} {
		run := Run{ID: id, State: id}
		if id == "ended" {
			run.Times.Ended = w.time.read()
		}
		records := make([]Record, 1200)
		for i := range records {
			records[i] = Record{Number: int64(i + 1), Body: bytes.Repeat([]byte("y"), 500)}
		}
		ok(t, w.Append(ctx, id, records))
		ok(t, w.PutRun(ctx, run))
	}
	ok(t, w.Say(ctx, Word{Run: "ended", Kind: "hint"}))
	ok(t, w.Audit(ctx, Entry{Action: "a"}))
	ok(t, w.PutSession(ctx, "old", Session{Expires: w.time.read().Add(time.Minute)}))
	w.time.move(31 * 24 * time.Hour)
	before := w.time.read().Add(-time.Hour)
	fill(300, 310)

	left := func(want ...int) {
		t.Helper()
		for i, table := range []string{"deliveries", "payloads", "records", "runs", "words", "audit", "secrets"} {
			if n := got[int](t)(one[int](ctx, w.Store, "", "SELECT count(*) FROM ralph_"+table)); n != want[i] {
				t.Errorf("%d rows of %s, want %d", n, table, want[i])
			}
		}
	}
	ok(t, w.Forget(ctx, Retention{}))
	left(310, 310, 2400, 2, 1, 1, 1)
	ok(t, w.Forget(ctx, Retention{Deliveries: before, Records: before}))
	left(11, 11, 1200, 2, 1, 1, 1)
	for id, there := range map[string]bool{"0": false, "1": true, "305": true} { // 1 is not decided
		if d, err := w.Delivery(ctx, id); (err == nil) != there || (d.Payload != nil) != there {
			t.Errorf("%s: %+v, %v", id, d.Decision, err)
		}
	}
	for run, n := range map[string]int64{"ended": 0, "works": 1200} {
		if last := got[int64](t)(w.LastRecord(ctx, run)); last != n {
			t.Error(run, last)
		}
	}
	if free := got[int](t)(one[int](ctx, w.Store, "", "PRAGMA freelist_count")); free != 0 {
		t.Error(free, "free pages are not given back")
	}
	ok(t, w.Audit(ctx, Entry{Action: "b"}))
	ok(t, w.Forget(ctx, Retention{Runs: before, Audit: before}))
	left(11, 11, 1200, 1, 0, 1, 1) // the secret by which the keys are known
	for _, statement := range []string{"DELETE FROM ralph_audit", "UPDATE ralph_audit SET person = 'x'"} {
		if err := w.exec(ctx, "", statement); err == nil || !strings.Contains(err.Error(), "only added to") {
			t.Error(statement, err)
		}
	}
}

// filled has a row in each table.
func filled(t *testing.T, w *world) {
	t.Helper()
	ctx := within(t)
	for i := range 3 {
		got[bool](t)(w.Deliver(ctx, delivery(fmt.Sprint("d", i))))
	}
	ok(t, w.Decide(ctx, Decided{ID: "d1", Decision: Decision{Step: "work", Run: "r"}}))
	ok(t, w.PutRun(ctx, Run{ID: "r", Title: "Ünï"}))
	ok(t, w.Append(ctx, "r", []Record{{1, w.time.read(), "k", []byte("\x00\xff")}, {2, w.time.read(), "k", nil}}))
	ok(t, w.Audit(ctx, Entry{Action: "a"}))
	ok(t, w.Seal(ctx, "s", []byte("hunter-42")))
	ok(t, w.PutSession(ctx, "t", Session{Login: "alice", OAuth: []byte("gho"), Expires: w.time.read().Add(time.Hour)}))
}

// all is everything that a database has.
func all(t *testing.T, s *Store) []any {
	t.Helper()
	ctx := within(t)
	return []any{got[[]Delivery](t)(s.Deliveries(ctx, Filter{})), got[Delivery](t)(s.Delivery(ctx, "d2")),
		got[[]Run](t)(s.Runs(ctx, Filter{})), len(got[[]Record](t)(s.Records(ctx, "r", 0, 0))),
		got[[]Record](t)(s.Records(ctx, "r", 0, 1)), got[[]Entry](t)(s.Audits(ctx, Filter{})), string(got[[]byte](t)(s.Unseal(ctx, "s"))),
		got[Session](t)(s.Session(ctx, "t")), got[[]Ended](t)(s.Ended(ctx))}
}

// TestBackup: a backup is restored and goes on from there; nothing of one is stored that is not whole, of something
// else, or of other keys.
func TestBackup(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	filled(t, w)
	var backup bytes.Buffer
	ok(t, w.Backup(ctx, &backup))
	if bytes.Contains(backup.Bytes(), []byte("hunter-42")) {
		t.Error("a secret is in the backup")
	}
	want := all(t, w.Store)
	o := w.options
	o.Dir = filepath.Join(t.TempDir(), "new")
	wrong := o
	wrong.Keys = keysFor(t, strings.Replace(key2, "2:", "1:", 1))
	for name, c := range map[string]struct {
		o    Options
		text []byte
		want string
	}{
		"other keys": {wrong, backup.Bytes(), "the keys are not those of this database"},
		"a part":     {o, backup.Bytes()[:backup.Len()*2/3], "not a whole SQLite file"},
		"nothing":    {o, nil, "have version 0"},
		"text":       {o, []byte("hello"), "not a whole SQLite file"},
	} {
		if err := Restore(ctx, c.o, bytes.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if left, err := filepath.Glob(filepath.Join(o.Dir, File+"*")); err != nil || left != nil {
			t.Errorf("%s: %q are there, %v", name, left, err)
		}
	}
	ok(t, Restore(ctx, o, bytes.NewReader(backup.Bytes())))
	if err := Restore(ctx, o, bytes.NewReader(backup.Bytes())); !invalid.Is(err) {
		t.Error("into one that is there:", err)
	}
	s := got[*Store](t)(Open(ctx, o))
	defer s.Close()
	if found := all(t, s); !reflect.DeepEqual(found, want) {
		t.Errorf("got %+v\nwant %+v", found, want)
	}
	got[bool](t)(s.Deliver(ctx, delivery("next")))
	if d := got[Delivery](t)(s.Delivery(ctx, "next")); d.Number != 4 {
		t.Error(d.Number)
	}
}

// looking is a buffer; look is called before each write.
type looking struct {
	to   bytes.Buffer
	look func()
}

func (l *looking) Write(p []byte) (int, error) {
	l.look()
	return l.to.Write(p)
}

// TestABackupBesideAServer: another process reads the file of a server that works.
func TestABackupBesideAServer(t *testing.T) {
	dir := t.TempDir()
	server := got[*Store](t)(Open(within(t), Options{Dir: dir}))
	defer server.Close()
	got[bool](t)(server.Deliver(within(t), delivery("a")))
	beside := got[*Store](t)(Open(within(t), Options{Dir: dir, Beside: true}))
	got[bool](t)(server.Deliver(within(t), delivery("b")))
	var backup looking
	backup.look = func() {
		if left, err := filepath.Glob(filepath.Join(dir, "backup*")); err != nil || len(left) > 0 {
			t.Errorf("when whoever reads it has enough, %q stay, %v", left, err)
		}
	}
	ok(t, beside.Backup(within(t), &backup))
	if _, err := beside.Deliver(within(t), delivery("c")); err == nil {
		t.Error("who reads has written")
	}
	ok(t, beside.Close())
	o := Options{Dir: t.TempDir()}
	ok(t, Restore(context.Background(), o, &backup.to))
	s := got[*Store](t)(Open(within(t), o))
	defer s.Close()
	if found := ids(got[[]Delivery](t)(s.Deliveries(within(t), Filter{}))); found != "b a" {
		t.Error(found)
	}
	if _, err := Open(within(t), Options{Dir: t.TempDir(), Beside: true}); !invalid.Is(err) {
		t.Error("a directory without a database:", err)
	}
}
