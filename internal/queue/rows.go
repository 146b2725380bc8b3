package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Enqueue stores a job, once by its ID; fresh is false if the ID is known, whatever became of that job. The job
// runs as soon as its key and a slot are free. When Enqueue returns without an error, the job is on the disk.
func (q *Queue) Enqueue(ctx context.Context, job Job) (fresh bool, err error) {
	if job.ID == "" || job.Key == "" || job.Tenant == "" {
		return false, fmt.Errorf("a job needs an id, a key and a tenant: got %q, %q, %q", job.ID, job.Key, job.Tenant)
	}
	if job.Body == nil {
		job.Body = []byte{}
	}
	added, err := q.db.exec(ctx, `INSERT INTO ralph_queue_jobs
		(id, key, tenant, priority, body, version, state, due, created)
		VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8) ON CONFLICT (id) DO NOTHING`,
		job.ID, job.Key, job.Tenant, job.Priority, job.Body, Version, millis(job.NotBefore), millis(q.clock()))
	if err != nil {
		return false, fmt.Errorf("enqueuing job %s: %w", job.ID, err)
	}
	if added > 0 {
		q.nudge()
	}
	return added > 0, nil
}

// Cancel ends a job: at once if it waits, and by ending Do's context within a second if it runs, on whatever
// machine. It reports whether there was anything to cancel. why is one sentence for people; the first one stays.
func (q *Queue) Cancel(ctx context.Context, id, why string) (bool, error) {
	if why == "" {
		why = "no reason given"
	}
	found, err := q.db.exec(ctx, `UPDATE ralph_queue_jobs SET
		cancel = CASE WHEN cancel = '' THEN $2 ELSE cancel END,
		why    = CASE WHEN state = 'waiting' THEN $2 ELSE why END,
		ended  = CASE WHEN state = 'waiting' THEN $3 ELSE ended END,
		state  = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END
		WHERE id = $1 AND state IN ('waiting', 'running')`, id, why, millis(q.clock()))
	if err != nil {
		return false, fmt.Errorf("cancelling job %s: %w", id, err)
	}
	q.lookSoon()
	return found > 0, nil
}

// Filter chooses jobs: those that match every field that is set.
type Filter struct {
	States []State
	Key    string
	Tenant string
	Before int64 // only jobs whose number is smaller: the last page's Page.Next
	Limit  int   // at most, 100 if it is 0
}

// Page is a part of a list, the newest first.
type Page struct {
	Jobs []Info
	Next int64 // Filter.Before of the next page; 0 after the last
}

// Jobs lists jobs without their bodies, the newest first.
func (q *Queue) Jobs(ctx context.Context, f Filter) (Page, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	var where []string
	var args []any
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if f.Key != "" {
		add("key = $%d", f.Key)
	}
	if f.Tenant != "" {
		add("tenant = $%d", f.Tenant)
	}
	if f.Before > 0 {
		add("number < $%d", f.Before)
	}
	if len(f.States) > 0 {
		var names []string
		for _, s := range f.States {
			args = append(args, string(s))
			names = append(names, fmt.Sprintf("$%d", len(args)))
		}
		where = append(where, "state IN ("+strings.Join(names, ", ")+")")
	}
	statement := "SELECT number, ''," + columns + " FROM ralph_queue_jobs"
	if len(where) > 0 {
		statement += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, limit+1)
	statement += fmt.Sprintf(" ORDER BY number DESC LIMIT $%d", len(args))
	var page Page
	var number int64
	err := q.db.query(ctx, func(r row) error {
		if len(page.Jobs) == limit {
			page.Next = number
			return nil
		}
		info, err := scan(r, &number)
		page.Jobs = append(page.Jobs, info)
		return err
	}, statement, args...)
	if err != nil {
		return Page{}, fmt.Errorf("listing jobs: %w", err)
	}
	return page, nil
}

// ErrUnknown is what Job says of an ID that it has not.
var ErrUnknown = errors.New("no such job")

// Job reads one job with its body, or ErrUnknown.
func (q *Queue) Job(ctx context.Context, id string) (Info, error) {
	var number int64
	row := q.db.QueryRowContext(ctx, q.db.words(`SELECT number, body,`+columns+
		` FROM ralph_queue_jobs WHERE id = $1`), id)
	info, err := scan(row, &number)
	if errors.Is(err, sql.ErrNoRows) {
		return Info{}, fmt.Errorf("%s: %w", id, ErrUnknown)
	}
	if err != nil {
		return Info{}, fmt.Errorf("reading job %s: %w", id, err)
	}
	return info, nil
}

const columns = ` id, key, tenant, priority, state, due, created, attempt, kills, executor, cancel,
	started, ended, why`

func scan(r row, number *int64) (i Info, err error) {
	var due, created, started, ended int64
	err = r.Scan(number, &i.Body, &i.ID, &i.Key, &i.Tenant, &i.Priority, &i.State, &due, &created, &i.Attempt,
		&i.Kills, &i.Executor, &i.Cancel, &started, &ended, &i.Why)
	i.NotBefore, i.Created, i.Started, i.Ended = moment(due), moment(created), moment(started), moment(ended)
	return i, err
}

// millis is how times are stored: milliseconds since 1970, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

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
