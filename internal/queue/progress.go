package queue

import (
	"context"
	"time"
)

// Progressed says that a job which runs here has got on since this attempt began: what it was killed by before counts
// no more. Of a job that runs elsewhere by now it says nothing. An error says that the database did not take it; the
// next progress tells the same.
func (q *Queue) Progressed(ctx context.Context, id string) error {
	q.mu.Lock()
	a := q.active[id]
	if a == nil || a.kills == 0 {
		q.mu.Unlock()
		return nil
	}
	attempt := a.attempt
	q.mu.Unlock()
	_, err := q.db.exec(ctx, `UPDATE ralph_queue_jobs SET kills = 0
		WHERE id = $1 AND attempt = $2 AND executor = $3 AND state = 'running'`, id, attempt, q.executor)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	a.kills = 0
	return nil
}

// killedBefore is how often in a row the job of a turn was killed before it, or failed.
func (q *Queue) killedBefore(a *active) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return a.kills
}

// patience is how many kills in a row are nobody's fault: a machine that starts again and again kills all that runs.
const patience = 3

// respite is how long a job waits after its nth kill in a row: 1, 4, 9 … 36 seconds from the fourth on. Whatever kills
// it, be it the job itself or somebody who kills all, gets less to kill.
func respite(n int) time.Duration {
	over := min(max(n-patience, 0), 6)
	return time.Duration(over*over) * time.Second
}
