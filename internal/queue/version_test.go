package queue_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/queue"
)

// TestVersions: jobs of a newer program wait for it, those of an older one run.
func TestVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		client := at.open(t, func(*queue.Options) {})
		o, shut, err := at.options()
		if err != nil {
			t.Fatal(err)
		}
		defer shut()
		for id, version := range map[string]string{"old": "0", "now": "1", "new": "2"} {
			enqueue(t, client, queue.Job{ID: id, Key: id})
			set := "UPDATE ralph_queue_jobs SET version = " + version + " WHERE id = '" + id + "'"
			if _, err := notesOf(o).Exec(set); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := client.Old(t.Context()); err != nil || got != (queue.Others{Older: 1, Newer: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
		q := at.open(t, func(o *queue.Options) {
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		})
		becomes(t, q, "old", queue.Done)
		becomes(t, q, "now", queue.Done)
		if i, err := q.Job(t.Context(), "new"); err != nil || i.State != queue.Waiting {
			t.Errorf("%+v, %v", i, err)
		}
		if got, err := q.Old(t.Context()); err != nil || got != (queue.Others{Newer: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestWithoutDo: a queue that takes no work says so.
func TestWithoutDo(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		q := at.open(t, func(*queue.Options) {})
		if err := q.Start(t.Context()); err == nil {
			t.Error("it has started")
		}
		if err := q.Every("x", "0 * * * * *", nil); err == nil {
			t.Error("it has taken a schedule")
		}
		for _, id := range []string{"a", "b", "c"} {
			enqueue(t, q, queue.Job{ID: id, Key: "k"})
		}
		var ids []string
		page := queue.Page{}
		for range 2 {
			var err error
			page, err = q.Jobs(t.Context(), queue.Filter{Key: "k", Tenant: "tenant", States: []queue.State{queue.Waiting},
				Limit: 2, Before: page.Next})
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range page.Jobs {
				ids = append(ids, j.ID)
			}
		}
		if strings.Join(ids, "") != "cba" || page.Next != 0 {
			t.Errorf("%v, next %d", ids, page.Next)
		}
	})
}

// TestFirstStartOfMany: several processes may begin with an empty database at once.
func TestFirstStartOfMany(t *testing.T) {
	at := onPostgres(t)
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			o, shut, err := at.options()
			if err != nil {
				t.Error(err)
				return
			}
			defer shut()
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
			q, err := queue.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := q.Start(t.Context()); err != nil {
				t.Error(err)
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestOptions: mistakes are said at once.
func TestOptions(t *testing.T) {
	if _, err := queue.Open(t.Context(), queue.Options{}); err == nil {
		t.Error("a queue without a database is open")
	}
	onBoth(t, func(t *testing.T, at place) {
		o, shut, err := at.options()
		if err != nil {
			t.Fatal(err)
		}
		defer shut()
		t.Setenv("DBOS__VMID", "theirs")
		o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		if _, err := queue.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "DBOS__VMID") {
			t.Error(err)
		}
	})
}
