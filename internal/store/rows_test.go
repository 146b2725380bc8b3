package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestRuns(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	now := w.time.read()
	run := Run{ID: "a", Number: 1, Delivery: "d", Installation: 7, Repository: "o/r", Subject: "issue-1",
		Title: "Add\x00 it", Person: "alice", Key: "k", State: "queued", Tries: Tries{1, 2}, Times: Times{Created: now},
		Detail: []byte(`{"branch":"ralph/issue-1"}`)}
	ok(t, w.PutRun(ctx, run))
	w.time.move(time.Hour)
	run.State, run.Attempt, run.Times = "waiting", 2, Times{Started: w.time.read(), Resume: w.time.read().Add(time.Hour)}
	ok(t, w.PutRun(ctx, run))
	run.Times.Created = now
	if found := got[Run](t)(w.Run(ctx, "a")); !reflect.DeepEqual(found, run) {
		t.Errorf("got %+v\nwant %+v", found, run)
	}
	if _, err := w.Run(ctx, "b"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := w.PutRun(ctx, Run{}); !invalid.Is(err) {
		t.Error(err)
	}
}

func TestRunsOfAPage(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	begun := w.time.read()
	for i := range 6 {
		ok(t, w.PutRun(ctx, Run{ID: fmt.Sprint(i), Repository: []string{"o/one", "o/two", "x/three"}[i%3],
			State: []string{"running", "done"}[i%2], Subject: fmt.Sprint("issue-", i/2), Person: "alice"}))
		w.time.move(time.Minute)
	}
	for _, row := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "543210"},
		{Filter{Limit: 2, Before: 6}, "43"},
		{Filter{Repositories: []string{"O/One"}}, "30"}, // as pages ask for them: in another spelling
		{Filter{Repositories: []string{}}, ""},
		{Filter{Repositories: []string{"o/one' OR 1=1 --", "o/\x00one"}}, ""},
		{Filter{States: []string{"running", "waiting"}}, "420"},
		{Filter{States: []string{}}, ""},
		{Filter{Since: begun.Add(4 * time.Minute)}, "54"},
	} {
		found := ""
		for _, r := range got[[]Run](t)(w.Runs(ctx, row.filter)) {
			found += r.ID
		}
		if found != row.want {
			t.Errorf("%+v: %s, not %s", row.filter, found, row.want)
		}
	}
}

func TestRecords(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	at := w.time.read()
	ok(t, w.Append(ctx, "a", []Record{{1, at, "begun", []byte("one\x00\xff")}, {2, at, "turned", nil}}))
	ok(t, w.Append(ctx, "a", []Record{{2, at, "other", []byte("two")}, {3, at, "done", []byte("three")}}))
	ok(t, w.Append(ctx, "b", []Record{{1, at, "begun", []byte("b")}}))
	ok(t, w.Append(ctx, "b", nil))
	found := got[[]Record](t)(w.Records(ctx, "a", 0, 0))
	if len(found) != 3 || string(found[0].Body) != "one\x00\xff" || found[1].Kind != "turned" || !found[2].At.Equal(at) {
		t.Errorf("%+v", found)
	}
	if found := got[[]Record](t)(w.Records(ctx, "a", 2, 5)); len(found) != 1 || found[0].Number != 3 {
		t.Errorf("%+v", found)
	}
	if n := got[int64](t)(w.LastRecord(ctx, "a")); n != 3 {
		t.Error(n)
	}
	if n := got[int64](t)(w.LastRecord(ctx, "z")); n != 0 {
		t.Error(n)
	}
	for _, r := range []Record{{Number: 0}, {Number: 1, Body: make([]byte, LargestBody+1)}} {
		if err := w.Append(ctx, "a", []Record{r}); !invalid.Is(err) {
			t.Error(err)
		}
	}
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	a, stopA := w.Watch("a")
	also, stopAlso := w.Watch("a")
	all, stopAll := w.Watch("")
	b, stopB := w.Watch("b")
	ok(t, w.Append(ctx, "a", []Record{{Number: 1}}))
	ok(t, w.PutRun(ctx, Run{ID: "a"}))
	for name, c := range map[string]<-chan struct{}{"a": a, "also": also, "all": all} {
		select {
		case <-c:
		default:
			t.Error(name, "hears nothing")
		}
	}
	select {
	case <-b:
		t.Error("b hears of a")
	case <-a:
		t.Error("two pieces of news that nobody fetched are one")
	default:
	}
	for _, stop := range []func(){stopA, stopAlso, stopAll, stopB} {
		stop()
	}
	if len(w.watchers.of) != 0 {
		t.Error(w.watchers.of)
	}
}

func TestCounters(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	for _, state := range []string{"done", "done", "failed"} {
		ok(t, w.PutProgress(ctx, Progress{Run: Run{ID: "a", State: state}, Ended: true}))
	}
	for _, id := range []string{"a", "a", "b"} {
		got[bool](t)(w.Deliver(ctx, delivery(id)))
	}
	want := []Ended{{"done", 2}, {"failed", 1}}
	if found := got[[]Ended](t)(w.Ended(ctx)); !reflect.DeepEqual(found, want) {
		t.Error(found)
	}
	ok(t, w.Decide(ctx, Decided{ID: "b"}))
	ok(t, w.Forget(ctx, Retention{Deliveries: w.time.read().Add(time.Hour)}))
	w.again(t)
	if n := got[int64](t)(w.Delivered(ctx)); n != 2 {
		t.Error(n, "were delivered")
	}
	if found := got[[]Ended](t)(w.Ended(ctx)); !reflect.DeepEqual(found, want) {
		t.Error("after a restart:", found)
	}
}

// TestRunsThatWait: a run is taken once, when its time has come; a clock that was set back keeps none of them waiting.
func TestRunsThatWait(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	now := w.time.read()
	for id, run := range map[string]Run{
		"now": {Key: "k", State: "queued"}, "soon": {Key: "k", State: "queued", Times: Times{Resume: now.Add(time.Minute)}},
		"set back": {Key: "k", State: "queued", Times: Times{Resume: now.Add(time.Hour)}},
		"limit":    {Key: "k", State: "waiting", Times: Times{Resume: now.Add(time.Hour)}},
		"person":   {Key: "k", State: "waiting"}, "answer": {Kind: "answer", State: "queued"}, "over": {Key: "k", State: "done"},
	} {
		run.ID, run.Repository, run.Subject, run.Times.Created = id, "o/r", "issue-1", now
		ok(t, w.PutRun(ctx, run))
	}
	due := func() string {
		var found []string
		for _, r := range got[[]Run](t)(w.Due(ctx, false)) {
			found = append(found, r.ID)
		}
		slices.Sort(found)
		return strings.Join(found, ", ")
	}
	if found := due(); found != "now, set back" {
		t.Error(found)
	}
	if answers := got[[]Run](t)(w.Due(ctx, true)); len(answers) != 1 || answers[0].ID != "answer" {
		t.Errorf("%+v", answers)
	}
	ok(t, w.Add(ctx, Run{ID: "answer", State: "done"}))
	for _, id := range []string{"answer", "over"} {
		ok(t, w.Drop(ctx, id))
	}
	if _, err := w.Run(ctx, "answer"); !errors.Is(err, ErrNotFound) || len(got[[]Run](t)(w.Runs(ctx, Filter{}))) != 6 {
		t.Error("an answer that was given is a run", err)
	}
	if waiting, delayed, oldest, err := w.Depth(ctx); waiting != 1 || delayed != 3 || !oldest.Equal(now) || err != nil {
		t.Error(waiting, delayed, oldest, err)
	}
	w.time.move(time.Hour)
	if found := due(); found != "limit, now, set back, soon" {
		t.Error(found)
	}
	if r := got[Run](t)(w.Take(ctx, "limit")); r.State != "running" || r.Attempt != 1 || !r.Times.Resume.IsZero() ||
		!r.Times.Started.Equal(w.time.read()) {
		t.Errorf("%+v", r)
	}
	for _, id := range []string{"limit", "person", "over", "none"} {
		if _, err := w.Take(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Error(id, err)
		}
	}
	if got[bool](t)(w.EndQueued(ctx, "limit", "interrupted", "stopped")) {
		t.Error("a run that works has ended")
	}
	if !got[bool](t)(w.EndQueued(ctx, "now", "interrupted", "stopped")) || due() != "set back, soon" {
		t.Error(due())
	}
	ok(t, w.EndWaiting(ctx, Run{ID: "limit", Repository: "o/r", Subject: "issue-1"}, "continued", "later"))
	if r := got[Run](t)(w.Run(ctx, "person")); r.State != "continued" || !r.Times.Ended.Equal(w.time.read()) {
		t.Errorf("%+v", r)
	}
}
