package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
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

// got is a value that has to come without an error.
func got[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// aServer is a server that takes no work, at a time that stands still.
func aServer(t *testing.T) (sv *Server, now *time.Time) {
	t.Helper()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	clock := func() time.Time { return at }
	s := got[*store.Store](t)(store.Open(t.Context(), store.Options{Dir: filepath.Join(t.TempDir(), "data"), Clock: clock}))
	t.Cleanup(func() { _ = s.Close() })
	log := slog.New(slog.DiscardHandler)
	o := Options{Clock: clock, Log: log}
	o.Rules = event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"}
	sv = &Server{parts: &parts{o, s, &installed{o: o, s: s}}, pool: newPool(s, 1, 0, log)}
	sv.outbox = &outbox{parts: sv.parts, askers: &askers{parts: sv.parts}, wrote: sv.in.wrote, begin: sv.pool.wake,
		waker: make(chan struct{}, 1)}
	return sv, &at
}

// deliver stores a comment.
func deliver(t *testing.T, sv *Server, id, body string) {
	t.Helper()
	_, err := sv.s.Deliver(t.Context(), delivered(id, "issue_comment", []byte(strings.Replace(aComment, "BODY", body, 1)),
		time.Now()))
	must(t, err)
}

func pass(t *testing.T, sv *Server) {
	t.Helper()
	_, err := sv.outbox.pass(t.Context())
	must(t, err)
}

// waiting are the ids of the runs that wait for a place.
func waiting(t *testing.T, sv *Server) string {
	t.Helper()
	due := got[[]store.Run](t)(sv.s.Due(t.Context(), false))
	var ids []string
	for _, row := range due {
		ids = append(ids, row.ID)
	}
	return strings.Join(ids, " ")
}

// TestOneBadDelivery: a delivery that cannot be decided waits with its reason; the others do not wait for it, and it is
// not lost.
func TestOneBadDelivery(t *testing.T) {
	sv, now := aServer(t)
	broken := true
	sv.outbox.wrote = func(string) bool {
		if broken {
			panic("no room for it")
		}
		return false
	}
	payload := `{"action":"unlabeled",` + anIssue + `,"label":{"name":"ralph:running"},` + place + `}`
	_, err := sv.s.Deliver(t.Context(), delivered("d-1", "issues", []byte(payload), time.Now()))
	must(t, err)
	deliver(t, sv, "d-2", "/ralph retry")
	for range 3 {
		pass(t, sv)
	}
	d, err := sv.s.Delivery(t.Context(), "d-1")
	if err != nil || !d.Decision.At.IsZero() || !strings.Contains(d.Decision.Why, "no room for it") {
		t.Errorf("the broken one is %+v, %v", d, err)
	}
	if got := waiting(t, sv); got != "d-2" {
		t.Errorf("runs are %s", got)
	}
	broken = false
	*now = now.Add(time.Minute)
	pass(t, sv)
	if d, err := sv.s.Delivery(t.Context(), "d-1"); err != nil || d.Decision.At.IsZero() || d.Decision.Step != stepHanded {
		t.Errorf("it is %+v, %v", d, err)
	}
	must(t, sv.s.Close())
	if _, err := sv.outbox.pass(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a database that is away: %v", err)
	}
}

// TestToldAgain: what the database has not taken is stored later, and records that the next process tells again are
// stored once and count once.
func TestToldAgain(t *testing.T) {
	sv, now := aServer(t)
	row := store.Run{ID: "d-1", Repository: "alice/demo", State: web.Running}
	m := newMetrics("", nil)
	for _, records := range [][]int{{1, 2}, {1, 2, 3}} {
		w := recording{parts: sv.parts, m: m, room: func(int64) error { return nil }}
		r := w.newRecorder(row)
		last := got[int64](t)(sv.s.LastRecord(t.Context(), row.ID))
		r.next = last + 1
		told := []work.ToServer{{Begun: &bot.StartedRun{Run: "r", Records: int(last)}}}
		for _, n := range records {
			told = append(told, work.ToServer{Record: &work.Record{Number: n, Record: loop.Record{Type: loop.Turned, At: *now,
				Iteration: n, Turn: &loop.Turn{Usage: loop.Usage{Input: 10, Output: 1, CostUSD: 0.5}}}}})
		}
		away, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		if _, err := r.Hear(away, &launch.Running{}, told, 0); err == nil {
			t.Error("it is stored without a database")
		}
		_, err := r.Hear(t.Context(), &launch.Running{}, nil, 0) // it was heard
		must(t, err)
		row = got[store.Run](t)(sv.s.Run(t.Context(), row.ID))
		if last, err := sv.s.LastRecord(t.Context(), row.ID); err != nil || last != int64(len(records)) {
			t.Errorf("%d records are stored of %v, %v", last, records, err)
		}
	}
	told := httptest.NewRecorder()
	m.ServeHTTP(told, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{"ralph_tokens_total 33", "ralph_cost_usd_total 1.5"} {
		if !strings.Contains(told.Body.String(), "\n"+line+"\n") {
			t.Errorf("the metrics do not say %s:\n%s", line, told.Body)
		}
	}
}

// TestRunsOfAKilledServer: what a server was working on waits again, a little longer each time, and is given up in the
// end.
func TestRunsOfAKilledServer(t *testing.T) {
	sv, now := aServer(t)
	for _, c := range []struct {
		name string
		run  store.Run
		want store.Run
	}{
		{"once", store.Run{State: web.Running}, store.Run{State: web.Queued, Tries: store.Tries{Kills: 1}}},
		{"often", store.Run{State: web.Running, Tries: store.Tries{Kills: 5}},
			store.Run{State: web.Queued, Tries: store.Tries{Kills: 6}, Times: store.Times{Resume: now.Add(9 * time.Second)}}},
		{"too often", store.Run{State: web.Running, Tries: store.Tries{Kills: 9}},
			store.Run{State: failedRun, Tries: store.Tries{Kills: 10}, Times: store.Times{Ended: *now}}},
		{"waits", store.Run{State: web.Waiting}, store.Run{State: web.Waiting}},
		{"over", store.Run{State: "done"}, store.Run{State: "done"}},
	} {
		c.run.ID, c.run.Key, c.run.Repository = c.name, c.name, "alice/demo"
		must(t, sv.s.PutRun(t.Context(), c.run))
		must(t, sv.pool.resume(t.Context(), *now))
		got, err := sv.s.Run(t.Context(), c.name)
		must(t, err)
		if got.State != c.want.State || got.Kills != c.want.Kills || !got.Times.Resume.Equal(c.want.Times.Resume) ||
			!got.Times.Ended.Equal(c.want.Times.Ended) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestTurnsGoRound: of runs that wait, the next is of the installation, then the repository, then the person that has
// waited longest for a turn; of two with one key the second waits for the first.
func TestTurnsGoRound(t *testing.T) {
	sv, _ := aServer(t)
	add := func(installation int64, repository, person, key string, n int) {
		for i := range n {
			id := fmt.Sprintf("%s/%s/%d", repository, person, i)
			must(t, sv.s.PutRun(t.Context(), store.Run{ID: id, Installation: installation, Repository: repository,
				Person: person, Key: cmp.Or(key, id), State: web.Queued}))
		}
	}
	add(1, "a", "ann", "", 4)
	add(1, "a", "bob", "", 1)
	add(1, "b", "ann", "", 1)
	add(2, "c", "cid", "", 2)
	var order []string
	over := make(chan bool)
	p := sv.pool
	p.work = func(ctx context.Context, row store.Run) {
		order = append(order, row.ID)
		row.State = "done"
		must(t, sv.s.PutRun(ctx, row))
		over <- true
	}
	for range 8 {
		must(t, p.fill(t.Context()))
		<-over
		p.busy.Wait()
	}
	if got, want := strings.Join(order, " "), "a/ann/0 c/cid/0 b/ann/0 c/cid/1 a/bob/0 a/ann/1 a/ann/2 a/ann/3"; got != want {
		t.Errorf("the order is %s; want %s", got, want)
	}
	add(3, "d", "dan", "one", 2)
	p.slots = 2
	must(t, p.fill(t.Context()))
	if n := p.count(false); n != 1 {
		t.Errorf("%d with one key run", n)
	}
	<-over
	p.busy.Wait()
	add(4, "e", "eve", "", 2)
	p.perInstallation = 1
	must(t, p.fill(t.Context()))
	if n := p.count(false); n != 2 || p.running["d/dan/1"].ID == "" || p.running["e/eve/0"].ID == "" {
		t.Errorf("running: %v", p.running)
	}
	<-over
	<-over
	p.busy.Wait()
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
	pass(t, sv)
	if err := sv.outbox.again(t.Context(), "d-1"); !errors.As(err, &refused) {
		t.Errorf("while its run waits for a place: %v", err)
	}
	must(t, sv.s.PutRun(t.Context(), store.Run{ID: "d-1", Delivery: "d-1", State: "done"}))
	must(t, sv.outbox.again(t.Context(), "d-1"))
	pass(t, sv)
	run, err := sv.s.Run(t.Context(), "d-1-2")
	if err != nil || run.State != web.Queued || run.Delivery != "d-1" {
		t.Errorf("the second run is %+v, %v", run, err)
	}
	if got := waiting(t, sv); got != "d-1-2" {
		t.Errorf("what waits is %s", got)
	}
	d, err := sv.s.Delivery(t.Context(), "d-1")
	if err != nil || d.Decision.Run != "d-1-2" {
		t.Errorf("the delivery is %+v, %v", d, err)
	}
	deliver(t, sv, "d-2", "nothing of ours")
	pass(t, sv)
	must(t, sv.outbox.again(t.Context(), "d-2"))
	if list, err := sv.s.Undecided(t.Context(), 9); len(list) != 1 || err != nil {
		t.Errorf("%d are to be decided, %v", len(list), err)
	}
}
