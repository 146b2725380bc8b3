package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// must ends a test at what keeps it from going on.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// aServer is a server that takes no work, at a time that stands still.
func aServer(t *testing.T) (sv *Server, now *time.Time) {
	t.Helper()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	clock := func() time.Time { return at }
	s, err := store.Open(t.Context(), store.Options{Dir: filepath.Join(t.TempDir(), "data"), Clock: clock})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	file, _ := s.Handles()
	q, err := queue.Open(t.Context(), queue.Options{SQLite: file, Clock: clock})
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	sv = &Server{o: Options{Clock: clock, Log: log}, s: s, q: q}
	sv.o.Rules = event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"}
	sv.outbox = &outbox{s: s, rules: sv.o.Rules, log: log, clock: clock, enqueue: sv.enqueue, woken: make(chan struct{}, 1),
		ours: func(string, string) bool { return false }}
	return sv, &at
}

// deliver stores a comment.
func deliver(t *testing.T, sv *Server, id, body string) {
	t.Helper()
	_, err := sv.s.Deliver(t.Context(), delivered(id, "issue_comment", []byte(strings.Replace(aComment, "BODY", body, 1)),
		time.Now()))
	must(t, err)
}

// TestOneBadDelivery: a delivery that cannot be decided waits with its reason; the others do not wait for it, and it is
// not lost.
func TestOneBadDelivery(t *testing.T) {
	for name, breaks := range map[string]func(string) error{
		"refused": func(string) error { return errors.New("no room for it") },
		"panics":  func(string) error { panic("no room for it") },
	} {
		t.Run(name, func(t *testing.T) {
			sv, now := aServer(t)
			var made []string
			broken := true
			sv.outbox.enqueue = func(_ context.Context, id string, _ job, _ time.Time) error {
				if id == "d-1" && broken {
					return breaks(id)
				}
				made = append(made, id)
				return nil
			}
			for _, id := range []string{"d-1", "d-2"} {
				deliver(t, sv, id, "/ralph retry")
			}
			for range 3 {
				if _, err := sv.outbox.pass(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d, err := sv.s.Delivery(t.Context(), "d-1")
			if err != nil || d.Decision != nil || !strings.Contains(shownDelivery(d).Why, "no room for it") {
				t.Errorf("the broken one is %+v, %v", d, err)
			}
			if len(made) != 1 || made[0] != "d-2" {
				t.Errorf("jobs are %v", made)
			}
			broken = false
			*now = now.Add(time.Minute)
			if _, err := sv.outbox.pass(t.Context()); err != nil || len(made) != 2 {
				t.Errorf("jobs are %v, %v", made, err)
			}
		})
	}
	t.Run("a database that is away", func(t *testing.T) {
		sv, _ := aServer(t)
		deliver(t, sv, "d-1", "/ralph retry")
		sv.outbox.enqueue = func(context.Context, string, job, time.Time) error { return sv.s.Close() }
		if _, err := sv.outbox.pass(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("it says %v", err)
		}
	})
}

// TestClockSetBack: what a clock that was an hour ahead has put off is not put off for an hour.
func TestClockSetBack(t *testing.T) {
	sv, now := aServer(t)
	*now = now.Add(time.Hour)
	deliver(t, sv, "d-1", "/ralph retry")
	if _, err := sv.s.Undecided(t.Context(), 1, holdTime); err != nil { // and the process dies
		t.Fatal(err)
	}
	*now = now.Add(-time.Hour)
	if n, err := sv.outbox.pass(t.Context()); n != 1 || err != nil {
		t.Errorf("%d are decided, %v", n, err)
	}
}

// TestUnstored: what waits for a database is bounded; what is left out is said, and the run's own records stay longest.
func TestUnstored(t *testing.T) {
	u := unstored{next: 1}
	for i := range 5_000 {
		kind := web.OutputRecord
		if i%100 == 0 {
			kind = web.FactRecord
		}
		u.put(kind, time.Now(), make([]byte, 10<<10), 0)
		if i == 3_000 { // one that the database has not taken
			all := u.take()
			u.put(web.FactRecord, time.Now(), nil, 0)
			u.putBack(all)
		}
		if u.size > mostWaiting {
			t.Fatalf("%d bytes wait", u.size)
		}
	}
	list, facts, sum := u.records(len(u.waiting)), 0, 0
	for i, r := range list {
		if r.Kind == web.FactRecord {
			facts++
		}
		if sum += len(r.Body); i > 1 && r.Number <= list[i-1].Number {
			t.Fatalf("%d comes after %d", r.Number, list[i-1].Number)
		}
	}
	if text := string(list[0].Body); facts != 51 || list[0].Number != 2 || !strings.Contains(text, " pieces of the log (4") {
		t.Errorf("%d facts, and %d says %q", facts, list[0].Number, text)
	}
	if u.put(web.FactRecord, time.Now(), make([]byte, store.LargestBody+1), 0); u.gap.facts != 1 || u.size > mostWaiting {
		t.Errorf("a record that no database takes: %d left out, %d bytes wait", u.gap.facts, u.size)
	}
}

// TestPaidOnce: turns that are told again, by a process that goes on or by a batch that was stored before, are paid
// once; and what the database has not taken is stored later.
func TestPaidOnce(t *testing.T) {
	sv, now := aServer(t)
	row := store.Run{ID: "d-1", Installation: 70, Repository: "alice/demo", Person: "alice", State: web.Running}
	tells := func(attempt int, records ...int) {
		row.Attempt = attempt
		r := newRecorder(&recorder{s: sv.s, log: sv.o.Log, clock: sv.o.Clock, m: newMetrics("", nil, sv.o.Log)}, row, 0, false)
		r.attach(false, nil)
		r.Begun(bot.StartedRun{Run: "r", Records: 0})
		for _, n := range records {
			r.Record(work.Record{Number: n, Record: loop.Record{Type: loop.Turned, At: now.Add(time.Duration(n) * time.Second),
				Turn: &loop.Turn{Usage: loop.Usage{Input: 10, Output: 1, CostUSD: 0.5}}}})
		}
		r.end(func(*store.Run, *detail) {})
	}
	tells(1, 1, 2)
	tells(2, 1, 2, 3) // of a server that has restored an older row
	sums, err := sv.s.Spend(t.Context(), store.SpendFilter{})
	if err != nil || len(sums) != 1 || sums[0].Took != (store.Took{Turns: 3, Input: 30, Output: 3, Cost: 1_500_000}) {
		t.Errorf("it was paid %+v, %v", sums, err)
	}
	counters, err := sv.s.Counters(t.Context())
	must(t, err)
	for _, c := range counters {
		if c.Name == countCost && c.Value != 1_500_000 || c.Name == countTokens && c.Label == "input" && c.Value != 30 {
			t.Errorf("counted is %+v", c)
		}
	}
}

// TestHintsOnce: each hint is told to one process, unless that one died before it was on record.
func TestHintsOnce(t *testing.T) {
	sv, _ := aServer(t)
	row := store.Run{ID: "d-1", Repository: "alice/demo", State: web.Running}
	for _, text := range []string{"one", "two"} {
		must(t, sv.s.Say(t.Context(), row.ID, store.Word{Kind: web.Hint, Person: "alice", Text: text}))
	}
	attempt := func(known, recorded int) (told []string) {
		row.Attempt++
		r := newRecorder(&recorder{s: sv.s, log: sv.o.Log, clock: sv.o.Clock, m: newMetrics("", nil, sv.o.Log)}, row, 0, false)
		r.attach(false, nil)
		said, err := sv.s.Words(t.Context(), row.ID, r.heardUpTo())
		must(t, err)
		if early := r.untold(said); early != nil {
			t.Errorf("before it begins it is told %v", early)
		}
		r.Begun(bot.StartedRun{Run: "r", Records: known})
		for _, w := range r.untold(said) {
			told = append(told, w.Text)
		}
		for n := range recorded {
			r.Record(work.Record{Number: known + n + 1, Record: loop.Record{Type: loop.Hinted,
				Hint: &loop.Hint{ID: fmt.Sprintf(wordIDs, known+n+1), Text: "x"}}})
		}
		r.end(func(r *store.Run, _ *detail) { row = *r })
		row, err = sv.s.Run(t.Context(), row.ID)
		must(t, err)
		return told
	}
	for i, c := range []struct {
		known, recorded int
		told            string
	}{
		{0, 1, "one two"}, // dies before the second is on record
		{1, 1, "two"},
		{1, 0, "two"}, // the second was on record, and never left the process that died
		{2, 0, ""},
	} {
		if got := strings.Join(attempt(c.known, c.recorded), " "); got != c.told {
			t.Errorf("attempt %d is told %q; %q should be", i+1, got, c.told)
		}
	}
}

// TestCompare: rows of runs are held against the queue.
func TestCompare(t *testing.T) {
	resume := time.Date(2026, 5, 4, 5, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, job, state string // of the job; empty: there is none
		run              store.Run
		want, waits      string // state of the run, id of a job that waits
	}{
		{"given up", "d-1", "failed", store.Run{State: web.Running}, "failed", ""},
		{"cancelled", "d-1", "cancelled", store.Run{State: web.Queued}, "interrupted", ""},
		{"works", "d-1", "running", store.Run{State: web.Running}, web.Running, ""},
		{"of a backup", "", "", store.Run{State: web.Running}, web.Queued, "d-1"},
		{"of a backup, waiting", "", "", store.Run{State: web.Waiting, Times: store.Times{Resume: resume}}, web.Waiting,
			laterID("d-1", resume)},
		{"waits for a person", "", "", store.Run{State: web.Waiting}, web.Waiting, ""},
		{"forgotten", "", "", store.Run{State: web.Queued, Delivery: "d-0"}, "failed", ""},
		{"given up later", "d-1-9", "failed", store.Run{State: web.Running, Detail: json.RawMessage(`{"job":"d-1-9"}`)},
			"failed", ""},
		{"ended", "", "", store.Run{State: "done"}, "done", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sv, _ := aServer(t)
			deliver(t, sv, "d-1", "/ralph retry")
			c.run.ID, c.run.Repository, c.run.Installation = "d-1", "alice/demo", 70
			if c.run.Delivery == "" {
				c.run.Delivery = "d-1"
			}
			must(t, sv.s.PutRun(t.Context(), c.run))
			if c.job != "" {
				must(t, sv.enqueue(t.Context(), c.job, job{Run: "d-1", key: "k"}, time.Time{}))
				file, _ := sv.s.Handles()
				_, err := file.ExecContext(t.Context(), "UPDATE ralph_queue_jobs SET state = ?1, ended = (?1 <> 'running')",
					c.state)
				must(t, err)
			}
			must(t, sv.compare(t.Context()))
			run, err := sv.s.Run(t.Context(), "d-1")
			if err != nil || run.State != c.want && c.waits == "" {
				t.Errorf("the run is %+v, %v", run, err)
			}
			page, err := sv.q.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.Waiting}})
			must(t, err)
			if got := len(page.Jobs); got > 1 || (got == 1) != (c.waits != "") || got == 1 && page.Jobs[0].ID != c.waits {
				t.Errorf("jobs that wait: %+v", page.Jobs)
			}
		})
	}
}

// TestAgain: a delivery that became a run becomes another one, once the first has ended; one that became none is decided
// anew.
func TestAgain(t *testing.T) {
	sv, _ := aServer(t)
	deliver(t, sv, "d-1", "/ralph retry")
	refused := (*web.Refusal)(nil)
	if err := sv.outbox.again(t.Context(), "d-1"); !errors.As(err, &refused) {
		t.Errorf("before it is decided: %v", err)
	}
	if _, err := sv.outbox.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sv.outbox.again(t.Context(), "d-1"); !errors.As(err, &refused) {
		t.Errorf("while its run waits for a place: %v", err)
	}
	must(t, sv.s.PutRun(t.Context(), store.Run{ID: "d-1", Delivery: "d-1", State: "done", Attempt: 1}))
	must(t, sv.outbox.again(t.Context(), "d-1"))
	run, err := sv.s.Run(t.Context(), "d-1-2")
	if err != nil || run.State != web.Queued || run.Delivery != "d-1" {
		t.Errorf("the second run is %+v, %v", run, err)
	}
	if info, err := sv.q.Job(t.Context(), "d-1-2"); err != nil || info.State != queue.Waiting {
		t.Errorf("its job is %+v, %v", info, err)
	}
	d, err := sv.s.Delivery(t.Context(), "d-1")
	if err != nil || shownDelivery(d).Run != "d-1-2" {
		t.Errorf("the delivery is %+v, %v", d, err)
	}
	deliver(t, sv, "d-2", "nothing of ours")
	if _, err := sv.outbox.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, sv.outbox.again(t.Context(), "d-2"))
	if n, _, err := sv.s.Outbox(t.Context()); n != 1 || err != nil {
		t.Errorf("%d are to be decided, %v", n, err)
	}
}

// TestOtherVersions: jobs of another version are said by /readyz, and keep no server from being ready.
func TestOtherVersions(t *testing.T) {
	sv, _ := aServer(t)
	r := &readiness{clock: time.Now, probes: []probe{{"queue", sv.otherVersions}}}
	must(t, sv.enqueue(t.Context(), "j", job{key: "k"}, time.Time{}))
	file, _ := sv.s.Handles()
	_, err := file.ExecContext(t.Context(), "UPDATE ralph_queue_jobs SET version = version + 1")
	must(t, err)
	if list, ok := r.look(t.Context()); !ok || !strings.HasPrefix(list[0].Note, "1 job waits for a newer ralph serve") {
		t.Errorf("it says %+v, ready %v", list, ok)
	}
}
