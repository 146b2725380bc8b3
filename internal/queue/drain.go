package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// grace is how long Do may take to return after its context has ended.
const grace = 15 * time.Second

// Drain takes no new job, waits until those that run here have ended or ctx has, and hands the rest on: their
// contexts end with ErrHandedOn, and the jobs wait for another process or for the next start. An error says how
// many did not end.
func (q *Queue) Drain(ctx context.Context) error {
	q.draining.Store(true)
	if q.workflows == nil {
		return nil
	}
	q.workflows.stopTaking()
	if q.noClaim(); q.ended(ctx) {
		return nil
	}
	for _, a := range q.snapshot() {
		a.cancel(ErrHandedOn)
	}
	late, cancel := context.WithTimeout(q.root, grace)
	defer cancel()
	if !q.ended(late) {
		return fmt.Errorf("draining the queue: %d jobs did not end within %s", q.runs(), grace)
	}
	return nil
}

// noClaim waits for a claim that is under way.
func (q *Queue) noClaim() {
	q.claiming.Lock()
	defer q.claiming.Unlock()
}

// ended waits until nothing runs here, and reports false if ctx ends first.
func (q *Queue) ended(ctx context.Context) bool {
	over := make(chan struct{})
	go func() {
		q.turns.Wait()
		close(over)
	}()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return q.runs() == 0
	}
}

// Close hands on what still runs here, ends the queue and closes its handle of the database. A job that does not
// end keeps this process's name in the database, so that others wait until it is certainly dead.
func (q *Queue) Close() error {
	now, cancel := context.WithCancel(q.root)
	cancel()
	failed := q.Drain(now)
	if q.quit != nil {
		q.quit()
		q.expiry.Stop()
	}
	q.loops.Wait()
	q.stop()
	if q.quit != nil && failed == nil {
		left, cancel := context.WithTimeout(q.root, 5*time.Second)
		defer cancel()
		_, err := q.db.exec(left, `DELETE FROM ralph_queue_executors WHERE id = $1`, q.executor)
		failed = err
	}
	if q.workflows != nil {
		failed = errors.Join(failed, q.workflows.close(5*time.Second))
	}
	failed = errors.Join(failed, q.db.Close())
	if q.Pool != nil {
		q.Pool.Close()
	}
	return failed
}

// Forget deletes jobs and workflows that ended before a time. A job that is forgotten could be enqueued again.
func (q *Queue) Forget(ctx context.Context, before time.Time) error {
	for {
		n, err := q.db.exec(ctx, `DELETE FROM ralph_queue_jobs WHERE number IN
			(SELECT number FROM ralph_queue_jobs WHERE ended > 0 AND ended < $1 LIMIT 500)`, millis(before))
		if err != nil {
			return fmt.Errorf("forgetting jobs: %w", err)
		}
		if n == 0 {
			break
		}
	}
	if q.workflows == nil {
		return nil
	}
	if err := q.workflows.forget(ctx, before); err != nil {
		return fmt.Errorf("forgetting workflows: %w", err)
	}
	return nil
}
