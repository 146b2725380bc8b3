package queue

import (
	"context"
	"errors"
	"time"
)

// beats tells the other processes that this one lives, and notices when they have taken it for dead. Only for
// Postgres: a SQLite file has one process.
func (q *Queue) beats(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		known, err := q.beat(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			q.Log.Warn("the heartbeat could not be stored", "error", err)
		case err == nil && known:
			q.renew(start)
		case err == nil:
			q.lose("other processes have taken this one for dead")
			q.comeBack(ctx)
		}
		if err == nil {
			q.watch(ctx)
		}
		wait(ctx, q.Beat)
	}
}

// beat stores one heartbeat; known is false if others have removed this executor.
func (q *Queue) beat(ctx context.Context) (known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*q.Beat)
	defer cancel()
	n, err := q.db.exec(ctx, `UPDATE ralph_queue_executors SET beat = beat + 1, seen = $2 WHERE id = $1`,
		q.executor, millis(q.clock()))
	return n > 0, err
}

// renew notes that a heartbeat that began at start has been stored. Work that was given up is not taken up again
// before all of it has ended here.
func (q *Queue) renew(start time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.renewed = start
	q.expiry.Reset(q.Stop - time.Since(start))
	if q.lost && len(q.active) == 0 {
		q.lost = false
		q.nudge()
	}
}

// lose ends all work of this process: somebody else may do it by now. The timer of the last heartbeat calls it,
// too, and that fires at once in a process that was stopped for long and goes on.
func (q *Queue) lose(why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.lost {
		q.Log.Warn("this process gives up its jobs", "why", why, "jobs", len(q.active))
	}
	q.lost = true
	for _, a := range q.active {
		a.cancel(ErrOvertaken)
	}
}

// comeBack makes this executor known again, once nothing of what it has lost runs here.
func (q *Queue) comeBack(ctx context.Context) {
	if q.runs() > 0 || q.draining.Load() {
		return
	}
	if err := q.enter(ctx); err != nil {
		q.Log.Warn("this process could not come back", "error", err)
	}
}

// enter makes this executor known.
func (q *Queue) enter(ctx context.Context) error {
	_, err := q.db.exec(ctx, `INSERT INTO ralph_queue_executors (id, beat, seen, machine, slots)
		VALUES ($1, 1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`, q.executor, millis(q.clock()), machine(), q.Slots)
	if err == nil { // the name by which others tell that they have taken over
		q.Log.Info("this process takes jobs", "process", q.executor, "slots", q.Slots)
	}
	return err
}

// sure reports whether nobody can have taken over the jobs of this process.
func (q *Queue) sure() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.lost && (!q.db.postgres || time.Since(q.renewed) < q.Stop)
}

// looks has Cancel reach the jobs that run here, and ends those that are not ours any more.
func (q *Queue) looks(ctx context.Context) {
	for ctx.Err() == nil {
		if q.runs() > 0 || q.unsure.Load() {
			if err := q.look(ctx); err != nil && ctx.Err() == nil {
				q.Log.Warn("looking for cancelled jobs", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-q.soon:
		case <-time.After(q.Look):
		}
	}
}

// look compares what runs here with what the database says. It excludes claims, which change both.
func (q *Queue) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	q.claiming.Lock()
	defer q.claiming.Unlock()
	type stored struct {
		attempt int
		cancel  string
	}
	ours := map[string]stored{}
	before := q.snapshot()
	err := q.db.query(ctx, func(r row) error {
		var id string
		var s stored
		err := r.Scan(&id, &s.attempt, &s.cancel)
		ours[id] = s
		return err
	}, `SELECT id, attempt, cancel FROM ralph_queue_jobs WHERE executor = $1 AND state = 'running'`, q.executor)
	if err != nil {
		return err
	}
	for id, a := range before {
		s, known := ours[id]
		if !known || s.attempt != a.attempt {
			a.cancel(ErrOvertaken) // or it has ended just now
		} else if s.cancel != "" {
			a.cancel(&CancelledError{Why: s.cancel})
		}
		delete(ours, id)
	}
	var failed error
	for id, s := range ours { // a claim whose answer was lost
		_, err := q.db.exec(ctx, `UPDATE ralph_queue_jobs SET state = 'waiting', executor = ''
			WHERE id = $1 AND attempt = $2 AND executor = $3 AND state = 'running'`, id, s.attempt, q.executor)
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		q.unsure.Store(false)
	}
	return failed
}
