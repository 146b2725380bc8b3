package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/queue"
)

func TestJobsRunOnceByID(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var did journal
		q := at.open(t, func(o *queue.Options) {
			o.Do = func(_ context.Context, job queue.Job, attempt int) (queue.Result, error) {
				did.add("%s %s %s %d %s", job.ID, job.Key, job.Tenant, attempt, job.Body)
				return queue.Result{Why: "all well"}, nil
			}
		})
		job := queue.Job{ID: "a", Key: "o/r#1", Tenant: "7", Body: []byte("body")}
		enqueue(t, q, job)
		info := becomes(t, q, "a", queue.Done)
		if info.Why != "all well" || info.Attempt != 1 || string(info.Body) != "body" || info.Ended.IsZero() {
			t.Errorf("%+v", info)
		}
		if fresh, err := q.Enqueue(t.Context(), job); fresh || err != nil {
			t.Errorf("again: %v, %v", fresh, err)
		}
		if got := did.all(); !slices.Equal(got, []string{"a o/r#1 7 1 body"}) {
			t.Errorf("%q", got)
		}
		if _, err := q.Job(t.Context(), "b"); !errors.Is(err, queue.ErrUnknown) {
			t.Errorf("unknown job: %v", err)
		}
		if _, err := q.Enqueue(t.Context(), queue.Job{ID: "c"}); err == nil {
			t.Error("a job without a key is taken")
		}
	})
}

// TestOneOfAKey: whatever the slots, jobs of one key run one after another and in order, and those of a tenant only
// as many at once as it may.
func TestOneOfAKey(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var did journal
		var mu sync.Mutex
		running, most := map[string]int{}, map[string]int{}
		change := func(name string, by int) {
			running[name] += by
			most[name] = max(most[name], running[name])
		}
		together := make(chan struct{}) // as many run at once as may: nobody leaves before, however slow the machine is
		do := func(ctx context.Context, job queue.Job, _ int) (queue.Result, error) {
			names := []string{"all", job.Key, job.Tenant}
			mu.Lock()
			did.add("%s", job.ID)
			for _, n := range names {
				change(n, 1)
			}
			if running["all"] == 6 && len(did.all()) <= 6 {
				close(together)
			}
			mu.Unlock()
			select {
			case <-together:
			case <-ctx.Done():
			}
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			for _, n := range names {
				change(n, -1)
			}
			mu.Unlock()
			return queue.Result{}, nil
		}
		client := at.open(t, func(*queue.Options) {})
		for i := range 60 {
			enqueue(t, client, queue.Job{ID: fmt.Sprintf("%02d", i), Key: fmt.Sprintf("key%d", i%10),
				Tenant: fmt.Sprintf("tenant%d", i%2)})
		}
		q := at.open(t, func(o *queue.Options) { o.Do, o.Slots, o.PerTenant = do, 8, 3 })
		until(t, "all are done", func() bool { return len(did.all()) == 60 })
		until(t, "nothing runs", func() bool {
			d, err := q.Depth(t.Context())
			return err == nil && d.Running+d.Waiting == 0
		})
		for name, n := range most {
			limit := 1
			switch {
			case name == "all":
				limit = 6 // two tenants
			case strings.HasPrefix(name, "tenant"):
				limit = 3
			}
			if n > limit {
				t.Errorf("%s: %d at once, %d allowed", name, n, limit)
			}
		}
		last := map[int]string{}
		for _, id := range did.all() {
			var i int
			fmt.Sscan(strings.TrimLeft(id, "0")+" 0", &i)
			if id < last[i%10] {
				t.Errorf("%s after %s", id, last[i%10])
			}
			last[i%10] = id
		}
	})
}

// TestTenantsShareFairly: a tenant with one job does not wait for the hundred of another.
func TestTenantsShareFairly(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var did journal
		client := at.open(t, func(*queue.Options) {})
		for i := range 50 {
			enqueue(t, client, queue.Job{ID: fmt.Sprint("big", i), Key: fmt.Sprint("big", i), Tenant: "big"})
		}
		for i := range 3 {
			enqueue(t, client, queue.Job{ID: fmt.Sprint("small", i), Key: fmt.Sprint("small", i), Tenant: "small"})
		}
		enqueue(t, client, queue.Job{ID: "urgent", Key: "u", Tenant: "big", Priority: -1})
		at.open(t, func(o *queue.Options) {
			o.Do = func(_ context.Context, job queue.Job, _ int) (queue.Result, error) {
				did.add("%s", job.ID)
				return queue.Result{}, nil
			}
		})
		until(t, "all are done", func() bool { return len(did.all()) == 54 })
		first := did.all()[:7]
		for _, id := range []string{"small0", "small1", "small2", "urgent"} {
			if !slices.Contains(first, id) {
				t.Errorf("%s is not among the first: %v", id, first)
			}
		}
	})
}

// TestProgressedJobsAreNotGivenUp: a job that gets on is not given up, however often it is killed; one that does not
// is.
func TestProgressedJobsAreNotGivenUp(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var q *queue.Queue
		opened := make(chan struct{})
		var did journal
		q = at.open(t, func(o *queue.Options) {
			o.Kills = 4
			o.Do = func(ctx context.Context, job queue.Job, attempt int) (queue.Result, error) {
				<-opened
				did.add("%s", job.ID)
				if job.ID == "on" && attempt == 9 {
					return queue.Result{}, nil
				}
				if job.ID == "on" && attempt%3 == 0 {
					if err := q.Progressed(ctx, job.ID); err != nil {
						return queue.Result{}, err
					}
				}
				return queue.Result{Killed: true, Why: "a stranger"}, nil
			}
		})
		close(opened)
		if err := q.Progressed(t.Context(), "none"); err != nil {
			t.Error(err)
		}
		enqueue(t, q, queue.Job{ID: "on", Key: "on"})
		enqueue(t, q, queue.Job{ID: "off", Key: "off"})
		if i := becomes(t, q, "on", queue.Done); i.Attempt != 9 {
			t.Errorf("%+v", i)
		}
		if i := becomes(t, q, "off", queue.Failed); i.Attempt != 4 || i.Why != "a stranger" {
			t.Errorf("%+v", i)
		}
	})
}

// TestKilledOftenWaitsLonger: a job of a process that has died runs again at once, and from its fourth kill in a row on
// after 1, 4, 9, 16, 25 and 36 seconds.
func TestKilledOftenWaitsLonger(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		now := time.UnixMilli(2e12)
		o, done, err := at.options()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(done)
		set := func(statement string) (err error) {
			if o.Pool != nil {
				_, err = o.Pool.Exec(t.Context(), statement)
			} else {
				_, err = o.SQLite.ExecContext(t.Context(), statement)
			}
			return err
		}
		q := at.open(t, func(o *queue.Options) {
			o.Clock, o.Kills = func() time.Time { return now }, 100
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		}, func(q *queue.Queue) {
			for kills := range 12 {
				id := fmt.Sprint(kills)
				enqueue(t, q, queue.Job{ID: id, Key: id, NotBefore: now.Add(time.Hour)})
				if err := set("UPDATE ralph_queue_jobs SET state = 'running', executor = 'dead', kills = " + id +
					" WHERE id = '" + id + "'"); err != nil {
					t.Fatal(err)
				}
			}
		})
		for kills, want := range []time.Duration{0, 0, 0, 1, 4, 9, 16, 25, 36, 36, 36, 36} {
			if want == 0 {
				becomes(t, q, fmt.Sprint(kills), queue.Done)
			} else if i := becomes(t, q, fmt.Sprint(kills), queue.Waiting); i.Kills != kills+1 ||
				!i.NotBefore.Equal(now.Add(want*time.Second)) {
				t.Errorf("after %d kills: %+v, want a pause of %d s", kills+1, i, want)
			}
		}
	})
}

func TestWhatDoSays(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var did journal
		var gave atomic.Value
		q := at.open(t, func(o *queue.Options) {
			o.Kills, o.GaveUp = 3, func(id string) { gave.Store(id) }
			o.Do = func(_ context.Context, job queue.Job, attempt int) (queue.Result, error) {
				did.add("%s %d", job.ID, attempt)
				switch {
				case job.ID == "later" && attempt == 1:
					return queue.Result{Again: time.Now().Add(time.Hour), Why: "the limit"}, nil
				case job.ID == "killed" && attempt < 3:
					return queue.Result{Killed: true}, nil
				case job.ID == "poison":
					return queue.Result{Killed: true, Why: "out of memory"}, nil
				case job.ID == "failing" && attempt == 1:
					return queue.Result{}, errors.New("no disk")
				case job.ID == "panics" && attempt == 1:
					panic("oh")
				}
				return queue.Result{}, nil
			}
		})
		for _, id := range []string{"later", "killed", "poison", "failing", "panics"} {
			enqueue(t, q, queue.Job{ID: id, Key: id})
		}
		enqueue(t, q, queue.Job{ID: "same key", Key: "later"})
		becomes(t, q, "same key", queue.Done) // what waits for its time holds nothing
		later := becomes(t, q, "later", queue.Waiting)
		if later.Why != "the limit" || time.Until(later.NotBefore) < 50*time.Minute {
			t.Errorf("%+v", later)
		}
		if i := becomes(t, q, "killed", queue.Done); i.Attempt != 3 {
			t.Errorf("%+v", i)
		}
		if i := becomes(t, q, "failing", queue.Done); i.Attempt != 2 {
			t.Errorf("%+v", i)
		}
		if i := becomes(t, q, "panics", queue.Done); i.Attempt != 2 {
			t.Errorf("%+v", i)
		}
		if i := becomes(t, q, "poison", queue.Failed); i.Attempt != 3 || i.Why != "out of memory" {
			t.Errorf("%+v", i)
		}
		until(t, "GaveUp is called", func() bool { return gave.Load() == "poison" })
		if _, err := q.Soon(t.Context(), "later"); err != nil {
			t.Fatal(err)
		}
		if i := becomes(t, q, "later", queue.Done); i.Attempt != 2 {
			t.Errorf("%+v", i)
		}
	})
}

func TestCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var causes journal
		q := at.open(t, func(o *queue.Options) {
			o.Slots = 2
			o.Do = func(ctx context.Context, job queue.Job, _ int) (queue.Result, error) {
				<-ctx.Done()
				causes.add("%s: %v", job.ID, context.Cause(ctx))
				return queue.Result{Killed: true}, nil
			}
		})
		enqueue(t, q, queue.Job{ID: "runs", Key: "k"}, queue.Job{ID: "waits", Key: "k"},
			queue.Job{ID: "delayed", Key: "d", NotBefore: time.Now().Add(time.Hour)})
		becomes(t, q, "runs", queue.Running)
		other := at.open(t, func(*queue.Options) {}) // as a page in another process does it
		for _, id := range []string{"waits", "delayed", "runs"} {
			start := time.Now()
			if found, err := other.Cancel(t.Context(), id, "enough of "+id); !found || err != nil {
				t.Fatalf("%s: %v, %v", id, found, err)
			}
			if i := becomes(t, q, id, queue.Cancelled); i.Why != "enough of "+id {
				t.Errorf("%+v", i)
			}
			t.Logf("%s: cancelled in %v", id, time.Since(start))
		}
		if got := causes.all(); !slices.Equal(got, []string{"runs: cancelled: enough of runs"}) {
			t.Errorf("%q", got)
		}
		if found, err := other.Cancel(t.Context(), "runs", "again"); found || err != nil {
			t.Errorf("%v, %v", found, err)
		}
	})
}

func TestNotBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var ahead atomic.Int64 // of the clock
		clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		q := at.open(t, func(o *queue.Options) {
			o.Clock = clock
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		})
		enqueue(t, q, queue.Job{ID: "delayed", Key: "d", NotBefore: time.Now().Add(50 * time.Minute)},
			queue.Job{ID: "soon", Key: "s", NotBefore: time.Now().Add(200 * time.Millisecond)})
		becomes(t, q, "soon", queue.Done)
		d, err := q.Depth(t.Context())
		if err != nil || d.Delayed != 1 || d.Tenants["tenant"].Delayed != 1 || d.Waiting != 0 {
			t.Errorf("%+v, %v", d, err)
		}
		ahead.Store(int64(time.Hour)) // the clock jumps: nothing breaks, and what is due runs
		becomes(t, q, "delayed", queue.Done)
		ahead.Store(-int64(time.Hour))
		enqueue(t, q, queue.Job{ID: "back", Key: "b"})
		becomes(t, q, "back", queue.Done)
	})
}
