package queue

import (
	"context"
	"time"
)

// observed is what this process has seen of another executor's heartbeat. No clocks are compared: what counts is
// for how long we have read the same number, and time in which we could not read does not count.
type observed struct {
	beat  int64
	at    time.Time // of the last look
	still time.Duration
	gone  int // looks in a row by which its process had ended on this machine
}

// watch looks at the heartbeats of the others and takes over the jobs of the dead.
func (q *Queue) watch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*q.Beat)
	defer cancel()
	now := time.Now()
	seen := map[string]*observed{}
	err := q.db.query(ctx, func(r row) error {
		var id, where string
		var beat int64
		if err := r.Scan(&id, &beat, &where); err != nil {
			return err
		}
		o := q.others[id]
		if o == nil || o.beat != beat {
			o = &observed{beat: beat, at: now}
		}
		o.still += min(now.Sub(o.at), 2*q.Beat)
		o.at = now
		if o.gone++; !gone(where) {
			o.gone = 0
		}
		seen[id] = o
		return nil
	}, `SELECT id, beat, machine FROM ralph_queue_executors WHERE id <> $1`, q.executor)
	if err != nil {
		if ctx.Err() == nil {
			q.Log.Warn("reading heartbeats", "error", err)
		}
		return
	}
	q.others = seen
	for id, o := range seen {
		if o.still < q.Dead && o.gone < 2 {
			continue
		}
		if err := q.takeOver(ctx, `id = $1 AND beat = $2`, id, o.beat); err != nil {
			q.Log.Warn("taking over jobs", "executor", id, "error", err)
		}
	}
}

// takeOver removes the executors of that condition and lets their jobs wait again, or fail if they were killed too
// often. A dead process that comes back to life finds itself removed.
func (q *Queue) takeOver(ctx context.Context, condition string, args ...any) error {
	var dead, failed []string
	freed := 0
	err := q.db.alone(ctx, func(tx *transaction) error {
		dead, failed, freed = nil, nil, 0
		err := tx.query(ctx, func(r row) error {
			var id string
			err := r.Scan(&id)
			dead = append(dead, id)
			return err
		}, `DELETE FROM ralph_queue_executors WHERE `+condition+` RETURNING id`, args...)
		if err != nil {
			return err
		}
		return tx.query(ctx, func(r row) error {
			var id, state string
			err := r.Scan(&id, &state)
			freed++
			if state == string(Failed) {
				failed = append(failed, id)
			}
			return err
		}, `UPDATE ralph_queue_jobs SET executor = '', kills = kills + 1,
			due   = CASE WHEN kills < $3 THEN 0 WHEN kills - $3 > 5 THEN CAST($2 AS BIGINT) + 36000
				ELSE CAST($2 AS BIGINT) + 1000 * (kills + 1 - $3) * (kills + 1 - $3) END, -- as respite has it
			why   = CASE WHEN cancel <> '' THEN cancel ELSE 'the process that ran it has died' END,
			ended = CASE WHEN cancel <> '' OR kills + 1 >= $1 THEN CAST($2 AS BIGINT) ELSE 0 END,
			state = CASE WHEN cancel <> '' THEN 'cancelled' WHEN kills + 1 >= $1 THEN 'failed' ELSE 'waiting' END
			WHERE state = 'running' AND executor NOT IN (SELECT id FROM ralph_queue_executors)
			RETURNING id, state`, q.Kills, millis(q.clock()), patience)
	})
	if err != nil {
		return err
	}
	if len(dead) > 0 || freed > 0 {
		q.Log.Warn("took over the jobs of processes that have died", "processes", dead, "jobs", freed)
		q.nudge()
	}
	for _, id := range failed {
		q.gaveUp(id)
	}
	if err := q.workflows.abandon(dead); err != nil {
		q.Log.Warn("workflows of a process that has died stay as they are", "error", err)
	}
	return nil
}
