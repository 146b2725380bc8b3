package queue

import (
	"context"
	"fmt"
	"time"
)

// Executor is one process that runs jobs, as far as the others have heard of it.
type Executor struct {
	ID    string
	Slots int
	Seen  time.Time // by its own clock
}

// Executors lists the processes that are not known to be dead.
func (q *Queue) Executors(ctx context.Context) (all []Executor, err error) {
	err = q.db.query(ctx, func(r row) error {
		var e Executor
		var seen int64
		if err := r.Scan(&e.ID, &e.Slots, &seen); err != nil {
			return err
		}
		e.Seen = moment(seen)
		all = append(all, e)
		return nil
	}, `SELECT id, slots, seen FROM ralph_queue_executors ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("listing executors: %w", err)
	}
	return all, nil
}

// Soon lets a waiting job run at once, whatever its NotBefore. It reports whether the job waited.
func (q *Queue) Soon(ctx context.Context, id string) (bool, error) {
	found, err := q.db.exec(ctx, `UPDATE ralph_queue_jobs SET due = 0 WHERE id = $1 AND state = 'waiting'`, id)
	if err != nil {
		return false, fmt.Errorf("hastening job %s: %w", id, err)
	}
	q.nudge()
	return found > 0, nil
}
