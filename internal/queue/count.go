package queue

import (
	"context"
	"fmt"
	"time"
)

// Depth is how much there is to do, over all machines.
type Depth struct {
	Running int
	Waiting int           // could run now, but for their key or a slot
	Delayed int           // whose NotBefore is to come
	Oldest  time.Duration // how long the oldest of Waiting could have run
	Tenants map[string]Share
}

// Share is one tenant's part of a Depth.
type Share struct{ Running, Waiting, Delayed int }

// Depth counts the jobs that have not ended.
func (q *Queue) Depth(ctx context.Context) (Depth, error) {
	now := q.clock()
	d := Depth{Tenants: map[string]Share{}}
	err := q.db.query(ctx, func(r row) error {
		var tenant, state string
		var delayed bool
		var count int
		var since int64
		if err := r.Scan(&tenant, &state, &delayed, &count, &since); err != nil {
			return err
		}
		share := d.Tenants[tenant]
		switch {
		case state == string(Running):
			share.Running, d.Running = count, d.Running+count
		case delayed:
			share.Delayed, d.Delayed = count, d.Delayed+count
		default:
			share.Waiting, d.Waiting = count, d.Waiting+count
			d.Oldest = max(d.Oldest, now.Sub(moment(since)))
		}
		d.Tenants[tenant] = share
		return nil
	}, `SELECT tenant, state, due > $1 AND state = 'waiting', count(*),
		min(CASE WHEN due > created THEN due ELSE created END)
		FROM ralph_queue_jobs WHERE state IN ('waiting', 'running') GROUP BY 1, 2, 3`, millis(now))
	if err != nil {
		return Depth{}, fmt.Errorf("counting jobs: %w", err)
	}
	return d, nil
}

// Others are jobs that wait and were stored by a program of another version than this one.
type Others struct {
	Older int // run here like ours
	Newer int // wait until a process of that version is there
}

// Old counts the waiting jobs of other versions.
func (q *Queue) Old(ctx context.Context) (o Others, err error) {
	err = q.db.query(ctx, func(r row) error { return r.Scan(&o.Older, &o.Newer) },
		`SELECT count(CASE WHEN version < $1 THEN 1 END), count(CASE WHEN version > $1 THEN 1 END)
		FROM ralph_queue_jobs WHERE state = 'waiting'`, Version)
	if err != nil {
		return Others{}, fmt.Errorf("counting jobs of other versions: %w", err)
	}
	return o, nil
}
