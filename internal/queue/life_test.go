//go:build unix

package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/postgres"
	"github.com/ralph-loop/ralph/internal/queue"
)

// TestDrain: what ends in time ends, the rest is handed on without being counted as killed, nothing new begins.
func TestDrain(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		release := make(chan struct{})
		var cause atomic.Value
		q := at.open(t, func(o *queue.Options) {
			o.Slots = 2
			o.Do = func(ctx context.Context, job queue.Job, _ int) (queue.Result, error) {
				select {
				case <-ctx.Done():
					cause.Store(context.Cause(ctx).Error())
					return queue.Result{Killed: true}, nil
				case <-release:
				}
				if job.ID == "long" {
					<-ctx.Done()
					cause.Store(context.Cause(ctx).Error())
					return queue.Result{Killed: true}, nil
				}
				return queue.Result{}, nil
			}
		})
		enqueue(t, q, queue.Job{ID: "short", Key: "s"}, queue.Job{ID: "long", Key: "l"})
		becomes(t, q, "short", queue.Running)
		becomes(t, q, "long", queue.Running)
		enqueue(t, q, queue.Job{ID: "waits", Key: "w"})
		limit, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.AfterFunc(200*time.Millisecond, func() { close(release) })
		if err := q.Drain(limit); err != nil {
			t.Fatal(err)
		}
		becomes(t, q, "short", queue.Done)
		if i := becomes(t, q, "long", queue.Waiting); i.Kills != 0 || i.Attempt != 1 || i.Executor != "" {
			t.Errorf("%+v", i)
		}
		if cause.Load() != queue.ErrHandedOn.Error() {
			t.Errorf("the cause was %v", cause.Load())
		}
		if i := becomes(t, q, "waits", queue.Waiting); i.Attempt != 0 {
			t.Errorf("%+v", i)
		}
	})
}

// TestAfterARestart: what a process has handed on or left goes on with the next one.
func TestAfterARestart(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		started := make(chan struct{})
		o, shut, err := at.options()
		if err != nil {
			t.Fatal(err)
		}
		o.Do = func(ctx context.Context, _ queue.Job, _ int) (queue.Result, error) {
			close(started)
			<-ctx.Done()
			return queue.Result{Killed: true}, nil
		}
		first, err := queue.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		enqueue(t, first, queue.Job{ID: "a", Key: "k"})
		<-started
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		shut()
		q := at.open(t, func(o *queue.Options) {
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		})
		if i := becomes(t, q, "a", queue.Done); i.Attempt != 2 {
			t.Errorf("%+v", i)
		}
		if all, err := q.Executors(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		if err := q.Forget(t.Context(), time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		becomes(t, q, "a", queue.Done)
		if err := q.Forget(t.Context(), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Job(t.Context(), "a"); !errors.Is(err, queue.ErrUnknown) {
			t.Error(err)
		}
	})
}

// TestEveryRunsOnce: of several processes one runs a schedule.
func TestEveryRunsOnce(t *testing.T) {
	at := onPostgres(t)
	var mu sync.Mutex
	ran := map[int64]int{} // by second
	for range 2 {
		do := func(o *queue.Options) {
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		}
		at.open(t, do, func(q *queue.Queue) {
			err := q.Every("tick", "*/2 * * * * *", func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				ran[time.Now().Unix()/2]++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	begun := time.Now()
	until(t, "five runs", func() bool { mu.Lock(); defer mu.Unlock(); return len(ran) >= 5 })
	mu.Lock()
	defer mu.Unlock()
	all := 0
	for _, n := range ran {
		all += n
	}
	if most := int(time.Since(begun)/(2*time.Second)) + 1; all > most {
		t.Errorf("%d runs in %v: %v", all, time.Since(begun), ran)
	}
}

// TestDatabaseGone stops the database below a queue. It goes on by itself; work is ended only if others could have
// taken it over by then.
func TestDatabaseGone(t *testing.T) {
	short, long := time.Second, 30*time.Second
	aways := []time.Duration{short, long}
	if os.Getenv("RALPH_TEST_EVERY_FAULT") == "" {
		long = quick.Stop + time.Second
		aways = []time.Duration{long}
	}
	server := postgres.New(t)
	at := place{url: server.URL}
	var did journal
	var end atomic.Value
	end.Store(make(chan struct{}))
	q := at.open(t, func(o *queue.Options) {
		o.Slots = 1
		o.Do = func(ctx context.Context, job queue.Job, attempt int) (queue.Result, error) {
			did.add("%s %d begins", job.ID, attempt)
			select {
			case <-ctx.Done():
				did.add("%s %d: %v", job.ID, attempt, context.Cause(ctx))
				return queue.Result{Killed: true}, nil
			case <-end.Load().(chan struct{}):
				did.add("%s %d ends", job.ID, attempt)
				return queue.Result{}, nil
			}
		}
	})
	for _, away := range aways {
		id := away.String()
		end.Store(make(chan struct{}))
		enqueue(t, q, queue.Job{ID: id, Key: "k"}, queue.Job{ID: id + " next", Key: "k"})
		until(t, "it runs", func() bool { return slices.Contains(did.all(), id+" 1 begins") })
		server.Stop(t)
		if _, err := q.Enqueue(t.Context(), queue.Job{ID: "lost", Key: "k", Tenant: "t"}); err == nil {
			t.Error("a job is taken by a database that is away")
		}
		gone := time.Now()
		if away == short { // what ends while the database is away counts
			close(end.Load().(chan struct{}))
		}
		time.Sleep(away - time.Since(gone))
		server.Start(t)
		if away == long {
			close(end.Load().(chan struct{}))
		}
		back := time.Now()
		info := becomes(t, q, id, queue.Done)
		becomes(t, q, id+" next", queue.Done)
		t.Logf("away for %v: all done %v after it was back", away, time.Since(back))
		if want := map[time.Duration]int{short: 1, long: 2}[away]; info.Attempt != want || info.Kills != 0 {
			t.Errorf("%+v, want %d attempts", info, want)
		}
	}
	if got := did.all(); !slices.Contains(got, fmt.Sprintf("%v 1: %v", long, queue.ErrOvertaken)) {
		t.Errorf("%q", got)
	}
}

// TestManyWait: thousands of jobs that wait or are delayed cost next to nothing.
func TestManyWait(t *testing.T) {
	if os.Getenv("RALPH_TEST_EVERY_FAULT") == "" {
		t.Skip("left to make every")
	}
	onBoth(t, func(t *testing.T, at place) {
		block := make(chan struct{})
		q := at.open(t, func(o *queue.Options) {
			o.Slots, o.PerTenant, o.Timing = 4, 2, queue.Timing{}
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { <-block; return queue.Result{}, nil }
		})
		t.Cleanup(func() { close(block) })
		body := make([]byte, 10<<10)
		begun := time.Now()
		for i := range 1000 {
			enqueue(t, q, queue.Job{ID: fmt.Sprint("d", i), Key: fmt.Sprint("d", i), Body: body,
				NotBefore: time.Now().Add(time.Hour)})
		}
		t.Logf("1,000 delayed enqueued in %v", time.Since(begun))
		before := spent(t)
		time.Sleep(5 * time.Second)
		t.Logf("1,000 delayed: %.2f %% of a core", float64(spent(t)-before)/5e9*100)
		begun = time.Now()
		for i := range 5800 {
			enqueue(t, q, queue.Job{ID: fmt.Sprint("w", i), Key: fmt.Sprint("w", i%100), Body: body,
				Tenant: fmt.Sprint("t", i%3)})
		}
		t.Logf("5,800 waiting on 100 keys enqueued in %v", time.Since(begun))
		until(t, "the slots are taken", func() bool {
			d, err := q.Depth(t.Context())
			return err == nil && d.Running == 4 && d.Waiting == 5796 && d.Delayed == 1000
		})
		before = spent(t)
		time.Sleep(5 * time.Second)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		cost := float64(spent(t)-before) / 5e9 * 100
		t.Logf("and 5,800 waiting: %.2f %% of a core, heap %d MB", cost, m.HeapAlloc>>20)
		if cost > 20 {
			t.Errorf("waiting costs %.1f %% of a core", cost)
		}
	})
}

// spent is the processor time of this process.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
