//go:build unix

package queue_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/postgres"
	"github.com/ralph-loop/ralph/internal/queue"
)

func places(b *testing.B, bench func(b *testing.B, at place)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, place{dir: b.TempDir()}) })
	b.Run("postgres", func(b *testing.B) { bench(b, place{url: postgres.Start(b)}) })
}

// BenchmarkEnqueueToDo is the time from the call of Enqueue to the beginning of Do, in the same process.
func BenchmarkEnqueueToDo(b *testing.B) {
	places(b, func(b *testing.B, at place) {
		o, shut, err := at.options()
		if err != nil {
			b.Fatal(err)
		}
		defer shut()
		begun := make(chan time.Time, 1)
		o.Do = func(context.Context, queue.Job, int) (queue.Result, error) {
			begun <- time.Now()
			return queue.Result{}, nil
		}
		o.Timing = queue.Timing{}
		q, err := queue.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		if err := q.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		var total time.Duration
		n := 0
		for b.Loop() {
			start := time.Now()
			job := queue.Job{ID: fmt.Sprint(n), Key: fmt.Sprint(n), Tenant: "t", Body: []byte("body")}
			if _, err := q.Enqueue(b.Context(), job); err != nil {
				b.Fatal(err)
			}
			total += (<-begun).Sub(start)
			time.Sleep(20 * time.Millisecond) // until it has settled
			n++
		}
		b.ReportMetric(float64(total.Microseconds())/1000/float64(n), "ms/begin")
	})
}

// BenchmarkStart opens, starts and closes a queue on a database that has its tables.
func BenchmarkStart(b *testing.B) {
	places(b, func(b *testing.B, at place) {
		var ready time.Duration
		n := 0
		for b.Loop() {
			o, shut, err := at.options()
			if err != nil {
				b.Fatal(err)
			}
			o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
			start := time.Now()
			q, err := queue.Open(b.Context(), o)
			if err == nil {
				err = q.Start(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
			if n > 0 {
				ready += time.Since(start)
			} else {
				b.Logf("a new database: ready after %v", time.Since(start))
			}
			n++
			if err := q.Close(); err != nil {
				b.Fatal(err)
			}
			shut()
		}
		b.ReportMetric(float64(ready.Microseconds())/1000/float64(max(n-1, 1)), "ms/ready")
	})
}

// BenchmarkIdle is what a queue costs that has nothing to do.
func BenchmarkIdle(b *testing.B) {
	places(b, func(b *testing.B, at place) {
		o, shut, err := at.options()
		if err != nil {
			b.Fatal(err)
		}
		defer shut()
		o.Do = func(context.Context, queue.Job, int) (queue.Result, error) { return queue.Result{}, nil }
		o.Timing = queue.Timing{}
		q, err := queue.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		if err := q.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		before := spent(b)
		begun := time.Now()
		for b.Loop() {
			time.Sleep(10 * time.Second)
		}
		b.ReportMetric(float64(spent(b)-before)/float64(time.Since(begun))*100, "%core")
		if status, err := os.ReadFile("/proc/self/statm"); err == nil {
			var size, resident int
			fmt.Sscan(string(status), &size, &resident)
			b.ReportMetric(float64(resident*os.Getpagesize()>>20), "MB")
		}
	})
}
