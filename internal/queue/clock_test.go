package queue_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/queue"
)

// TestClockJumps: a clock that jumps by an hour, either way, keeps no job from running again after an error, and ends
// none that runs.
func TestClockJumps(t *testing.T) {
	onBoth(t, func(t *testing.T, at place) {
		var off atomic.Int64
		held := make(chan struct{})
		q := at.open(t, func(o *queue.Options) {
			o.Slots = 2
			o.Clock = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
			o.Do = func(ctx context.Context, job queue.Job, attempt int) (queue.Result, error) {
				switch {
				case job.ID == "long":
					select {
					case <-held:
					case <-ctx.Done():
					}
				case attempt == 1:
					off.Store(int64(time.Hour))
					return queue.Result{}, errors.New("not yet")
				}
				return queue.Result{}, nil
			}
		})
		enqueue(t, q, queue.Job{ID: "long", Key: "long", Tenant: "t"}, queue.Job{ID: "again", Key: "again", Tenant: "t"})
		until(t, "the error is stored", func() bool {
			i, err := q.Job(t.Context(), "again")
			return err == nil && i.Kills == 1
		})
		off.Store(0)
		if i := becomes(t, q, "again", queue.Done); i.Attempt != 2 {
			t.Errorf("%+v", i)
		}
		close(held)
		if i := becomes(t, q, "long", queue.Done); i.Attempt != 1 {
			t.Errorf("%+v", i)
		}
	})
}
