package store

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func delivery(id string) Delivery {
	return Delivery{ID: id, Event: "issues", Action: "labeled", Installation: 7, Repository: "o/r", Sender: "alice",
		Payload: []byte(`{"id":"` + id + `"}`)}
}

func ids(all []Delivery) string {
	var found []string
	for _, d := range all {
		found = append(found, d.ID)
	}
	return strings.Join(found, " ")
}

func TestADeliveryFromItsArrivalToItsDecision(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	for _, id := range []string{"a", "b", "c", "a"} {
		fresh := got[bool](t)(w.Deliver(ctx, delivery(id)))
		if first := w.first(t, id); fresh != first {
			t.Errorf("%s is fresh: %v", id, fresh)
		}
		w.time.move(time.Second)
	}
	if found := ids(got[[]Delivery](t)(w.Deliveries(ctx, Filter{NotBy: "ralph[bot]", Repositories: []string{"O/r"}}))); found != "c b a" ||
		got[[]Delivery](t)(w.Deliveries(ctx, Filter{NotBy: "alice"})) != nil {
		t.Error("a page has", found)
	}
	found := got[[]Delivery](t)(w.Undecided(ctx, 2))
	if ids(found) != "a b" || string(found[0].Payload) != `{"id":"a"}` || found[0].Tries != 0 {
		t.Errorf("%+v", found)
	}
	made := Decision{Step: "work", Why: "labeled", Subject: "issue-1", Run: "a"}
	ok(t, w.Decide(ctx, Decided{"a", made, &Run{ID: "a", State: "queued"}}))
	ok(t, w.Postpone(ctx, "b", w.time.read().Add(time.Hour), "GitHub does not answer"))
	w.again(t)
	if found := got[[]Delivery](t)(w.Undecided(ctx, 9)); ids(found) != "c" {
		t.Error("what waits is to be decided:", ids(found))
	}
	w.time.move(11 * time.Minute) // not an hour: no clock that jumps keeps a delivery waiting for long
	if found := got[[]Delivery](t)(w.Undecided(ctx, 9)); ids(found) != "b c" || found[0].Tries != 1 {
		t.Error("when it was postponed to:", ids(found))
	}
	d := got[Delivery](t)(w.Delivery(ctx, "a"))
	want := delivery("a")
	want.Number, want.Received = 1, time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC)
	want.Due = want.Received
	made.At = want.Received.Add(4 * time.Second)
	want.Decision = made
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v\nwant %+v", d, want)
	}
	ok(t, w.PutRun(ctx, Run{ID: "a", State: "running"}))
	ok(t, w.Undecide(ctx, "a"))
	if found := got[[]Delivery](t)(w.Undecided(ctx, 9)); ids(found) != "a b c" {
		t.Error("undecided again:", ids(found))
	}
	ok(t, w.Decide(ctx, Decided{"a", made, &Run{ID: "a", State: "queued"}}, Decided{ID: "c", Decision: Decision{Step: "nothing"}},
		Decided{ID: "z"}))
	if r := got[Run](t)(w.Run(ctx, "a")); r.State != "running" {
		t.Errorf("a run that works is %+v", r)
	}
	for id, step := range map[string]string{"a": "work", "c": "nothing"} {
		if d := got[Delivery](t)(w.Delivery(ctx, id)); d.Decision.At.IsZero() || d.Decision.Step != step {
			t.Errorf("decided together: %+v", d)
		}
	}
	for name, err := range map[string]error{
		"postpone": w.Postpone(ctx, "z", time.Time{}, ""),
		"undecide": w.Undecide(ctx, "z"),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Error(name, err)
		}
	}
}

// first reports whether a delivery has just been stored.
func (w *world) first(t *testing.T, id string) bool {
	t.Helper()
	return got[Delivery](t)(w.Delivery(within(t), id)).Received.Equal(w.time.read())
}

func TestHostileDeliveries(t *testing.T) {
	w := newWorld(t)
	ctx := within(t)
	for _, id := range []string{"", strings.Repeat("x", 201)} {
		if _, err := w.Deliver(ctx, delivery(id)); !invalid.Is(err) {
			t.Errorf("%q: %v", id, err)
		}
	}
	d := Delivery{ID: "'; DROP TABLE ralph_runs; --", Event: "\x00\xff", Repository: "o/\x00", Sender: "?",
		Payload: []byte("\x00\xff?$1")}
	got[bool](t)(w.Deliver(ctx, d))
	found := got[Delivery](t)(w.Delivery(ctx, d.ID))
	if string(found.Payload) != string(d.Payload) || found.Event != d.Event || found.Repository != d.Repository || found.Sender != "?" {
		t.Errorf("%+v", found)
	}
}
