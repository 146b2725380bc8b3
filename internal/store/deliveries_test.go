package store

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
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
	both(t, func(t *testing.T, w *world) {
		ctx := within(t)
		for _, id := range []string{"a", "b", "c", "a"} {
			fresh := got[bool](t)(w.Deliver(ctx, delivery(id)))
			if first := w.first(t, id); fresh != first {
				t.Errorf("%s is fresh: %v", id, fresh)
			}
			w.time.move(time.Second)
		}
		if n, oldest, err := w.Outbox(ctx); err != nil || n != 3 || !oldest.Equal(w.time.read().Add(-4*time.Second)) {
			t.Error(n, oldest, err)
		}
		found := got[[]Delivery](t)(w.Undecided(ctx, 2, time.Minute))
		if ids(found) != "a b" || string(found[0].Payload) != `{"id":"a"}` || found[0].Tries != 1 {
			t.Errorf("%+v", found)
		}
		if found := got[[]Delivery](t)(w.Undecided(ctx, 9, time.Minute)); ids(found) != "c" {
			t.Error("what is held was handed out:", ids(found))
		}
		made := Decision{Step: "work", Why: "labelled", Subject: "issue-1", Queued: true, Detail: []byte(`{"x":1}`)}
		ok(t, w.Decided(ctx, "a", made))
		ok(t, w.Postpone(ctx, "b", w.time.read().Add(time.Hour), "GitHub does not answer"))
		w.again(t)
		w.time.move(2 * time.Minute)
		if found := got[[]Delivery](t)(w.Undecided(ctx, 9, time.Minute)); ids(found) != "c" {
			t.Error("after the time of hold:", ids(found))
		}
		w.time.move(2 * time.Hour)
		if found := got[[]Delivery](t)(w.Undecided(ctx, 9, time.Minute)); ids(found) != "b c" {
			t.Error("after two hours:", ids(found))
		}
		d := got[Delivery](t)(w.Delivery(ctx, "a"))
		want := delivery("a")
		want.Number, want.Tries, want.Received = 1, 1, time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC)
		made.At = want.Received.Add(4 * time.Second)
		want.Decision = &made
		if !reflect.DeepEqual(d, want) {
			t.Errorf("got %+v\nwant %+v", d, want)
		}
		ok(t, w.Undecide(ctx, "a"))
		if found := got[[]Delivery](t)(w.Undecided(ctx, 9, time.Minute)); ids(found) != "a" {
			t.Error("undecided again:", ids(found))
		}
		ok(t, w.DecidedTogether(ctx, map[string]Decision{"a": made, "c": {Step: "nothing", Why: "asleep"}, "z": {}}))
		for id, step := range map[string]string{"a": "work", "c": "nothing"} {
			if d := got[Delivery](t)(w.Delivery(ctx, id)); d.Decision == nil || d.Decision.Step != step {
				t.Errorf("decided together: %+v", d)
			}
		}
		if n, _, err := w.Outbox(ctx); err != nil || n != 1 {
			t.Error("there is to decide:", n, err)
		}
		for name, err := range map[string]error{
			"decide":   w.Decided(ctx, "z", Decision{}),
			"postpone": w.Postpone(ctx, "z", time.Time{}, ""),
			"undecide": w.Undecide(ctx, "z"),
		} {
			if !errors.Is(err, ErrNotFound) {
				t.Error(name, err)
			}
		}
	})
}

// first reports whether a delivery has just been stored.
func (w *world) first(t *testing.T, id string) bool {
	t.Helper()
	return got[Delivery](t)(w.Delivery(within(t), id)).Received.Equal(w.time.read())
}

func TestDeliveriesOfAPage(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		ctx := within(t)
		for i := range 6 {
			d := delivery(fmt.Sprint(i))
			d.Repository = []string{"o/one", "o/two", "x/three"}[i%3]
			d.Event = []string{"issues", "push"}[i%2]
			got[bool](t)(w.Deliver(ctx, d))
		}
		ok(t, w.Decided(ctx, "0", Decision{Step: "work"}))
		for _, row := range []struct {
			filter DeliveryFilter
			want   string
		}{
			{DeliveryFilter{}, "5 4 3 2 1 0"},
			{DeliveryFilter{Limit: 2}, "5 4"},
			{DeliveryFilter{Before: 5, Limit: 2}, "3 2"},
			{DeliveryFilter{Repositories: []string{"o/one", "x/three"}}, "5 3 2 0"},
			{DeliveryFilter{Repositories: []string{}}, ""},
			{DeliveryFilter{Repositories: []string{"o/one' OR 1=1 --", "o/\x00one"}}, ""},
			{DeliveryFilter{Event: "push"}, "5 3 1"},
			{DeliveryFilter{Step: "work"}, "0"},
			{DeliveryFilter{Undecided: true, Repositories: []string{"o/one"}}, "3"},
		} {
			if found := ids(got[[]Delivery](t)(w.Deliveries(ctx, row.filter))); found != row.want {
				t.Errorf("%+v: %s, not %s", row.filter, found, row.want)
			}
		}
	})
}

func TestHostileDeliveries(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		ctx := within(t)
		for _, id := range []string{"", strings.Repeat("x", 201), "a\x00b", "\xff"} {
			if _, err := w.Deliver(ctx, delivery(id)); !invalid.Is(err) {
				t.Errorf("%q: %v", id, err)
			}
		}
		d := Delivery{ID: "'; DROP TABLE ralph_runs; --", Event: "\x00\xff", Repository: "o/\x00", Sender: "?",
			Payload: []byte("\x00\xff?$1")}
		got[bool](t)(w.Deliver(ctx, d))
		found := got[Delivery](t)(w.Delivery(ctx, d.ID))
		if string(found.Payload) != string(d.Payload) || found.Event != "\uFFFD\uFFFD" || found.Sender != "?" {
			t.Errorf("%+v", found)
		}
	})
}

// TestManyAtOnce: each of many deliveries that come at once, twice, is handed out to one of several takers.
func TestManyAtOnce(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		ctx := within(t)
		const many = 300
		var fresh, taken atomic.Int64
		var all sync.WaitGroup
		for worker := range 10 {
			all.Go(func() {
				for i := range many / 5 {
					was, err := w.Deliver(ctx, delivery(fmt.Sprint((worker%5)*(many/5)+i)))
					if err != nil {
						t.Error(err)
					}
					if was {
						fresh.Add(1)
					}
				}
			})
		}
		all.Wait()
		for range 5 {
			all.Go(func() {
				for {
					found, err := w.Undecided(ctx, 7, time.Hour)
					if err != nil || len(found) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					taken.Add(int64(len(found)))
				}
			})
		}
		all.Wait()
		if fresh.Load() != many || taken.Load() != many {
			t.Errorf("%d fresh, %d taken", fresh.Load(), taken.Load())
		}
	})
}
