package store

import (
	"context"
	"encoding/json"
	"time"
)

// Run is the row of a run: what lists and pages show of it. All that happened in it is in its records.
type Run struct {
	ID           string // at most 200 bytes
	Number       int64  // given in the order of storing; ignored by PutRun
	Delivery     string // the id of the delivery that asked for it
	Installation int64
	Repository   string // "owner/name"
	Subject      string // "issue-42"
	Title        string
	Person       string // the login of whoever asked
	Kind         string // "": a run; before it has begun one, "answer" or "sweep", which no list has
	Key          string // of runs with the same key one works at a time
	State        string // "queued", "running", "waiting", or how it ended
	Reason       string // a sentence: what it waits for, why it ended
	Tries
	Times  Times
	Detail json.RawMessage // for the pages; may be nil
}

// Tries are the processes of a run.
type Tries struct {
	Attempt int // which of them works on it, from 1
	Kills   int // how many of the last died without any progress
}

// Times of a run, in UTC; the zero time for what has not been.
type Times struct {
	Created time.Time // now, if PutRun gets none for a new run
	Started time.Time
	Ended   time.Time
	Resume  time.Time // when a waiting run goes on, and before when a queued one does not begin
}

// PutRun stores the row of a run, the whole of it. Created stays what it was first.
func (s *Store) PutRun(ctx context.Context, r Run) error { return s.PutProgress(ctx, Progress{Run: r}) }

const insertRun = `INSERT INTO ralph_runs (id, delivery, installation, repository, subject, title, person, kind, key,
	state, reason, attempt, kills, created, started, ended, resume, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// columnsOf are the values of insertRun.
func (s *Store) columnsOf(r Run) []any {
	if r.Times.Created.IsZero() {
		r.Times.Created = s.clock()
	}
	return []any{r.ID, r.Delivery, r.Installation, r.Repository, r.Subject, r.Title, r.Person, r.Kind, r.Key, r.State, r.Reason,
		r.Attempt, r.Kills, micros(r.Times.Created), micros(r.Times.Started), micros(r.Times.Ended), micros(r.Times.Resume),
		[]byte(r.Detail)}
}

// putRun is PutRun in a transaction.
func (s *Store) putRun(t *transaction, r Run) error {
	_, err := t.exec(insertRun+` ON CONFLICT (id) DO UPDATE SET delivery = excluded.delivery,
		installation = excluded.installation, repository = excluded.repository, subject = excluded.subject,
		title = excluded.title, person = excluded.person, kind = excluded.kind, key = excluded.key, state = excluded.state, reason = excluded.reason,
		attempt = excluded.attempt, kills = excluded.kills, started = excluded.started, ended = excluded.ended,
		resume = excluded.resume, detail = excluded.detail`, s.columnsOf(r)...)
	return err
}

// Take has a run that waits be worked on by a new process; ErrNotFound when it does not wait any more.
func (s *Store) Take(ctx context.Context, id string) (r Run, err error) {
	err = s.write(ctx, "taking a run", func(t *transaction) error {
		now := micros(s.clock())
		r, err = runOf(t.one(`UPDATE ralph_runs SET state = 'running', reason = '', resume = 0, attempt = attempt + 1,
			started = CASE WHEN started = 0 THEN ? ELSE started END
			WHERE id = ? AND (state = 'queued' OR state = 'waiting' AND resume <> 0) RETURNING `+runColumns, now, id).Scan)
		return err
	})
	if err == nil {
		s.notify(id)
	}
	return r, err
}

// longestPause is how long a queued run waits before it begins again, at most: one that seems to wait longer does so
// since the clock was set back.
const longestPause = 10 * time.Minute

// Add stores a run, unless there is one with its ID.
func (s *Store) Add(ctx context.Context, r Run) error {
	return s.exec(ctx, "storing a run", insertRun+ifNew, s.columnsOf(r)...)
}

const ifNew = " ON CONFLICT (id) DO NOTHING"

// Drop removes what has become no run.
func (s *Store) Drop(ctx context.Context, id string) error {
	return s.exec(ctx, "dropping a job", "DELETE FROM ralph_runs WHERE id = ? AND kind <> ''", id)
}

// Due are the answers, or the runs and sweeps, that wait for nothing but a place, the oldest first.
func (s *Store) Due(ctx context.Context, answers bool) ([]Run, error) {
	now := s.clock()
	return list(ctx, s, ask("reading runs that wait", "SELECT "+runColumns+` FROM ralph_runs WHERE state IN ('queued',
		'waiting') AND (kind = 'answer') = ? AND (resume <= ? AND (state = 'queued' OR resume <> 0) OR state = 'queued' AND resume > ?)
		ORDER BY number`, answers, micros(now), micros(now.Add(longestPause))), runOf)
}

// Depth is how many runs wait for a place, how many for a time, and since when the oldest of the first does.
func (s *Store) Depth(ctx context.Context) (waiting, delayed int, oldest time.Time, err error) {
	now := micros(s.clock())
	q := ask("counting runs that wait", `SELECT count(CASE WHEN resume <= ? THEN 1 END), count(CASE WHEN resume > ? THEN 1 END),
		coalesce(min(CASE WHEN resume <= ? THEN max(resume, created) END), 0)
		FROM ralph_runs WHERE kind = '' AND (state = 'queued' OR state = 'waiting' AND resume <> 0)`, now, now, now)
	_, err = one(ctx, s, q, func(row scan) (struct{}, error) {
		var since int64
		err := row(&waiting, &delayed, &since)
		oldest = fromMicros(since)
		return struct{}{}, err
	})
	return waiting, delayed, oldest, err
}

// EndQueued stores how a run ended that waits for a place, and reports whether it did.
func (s *Store) EndQueued(ctx context.Context, id, state, reason string) (bool, error) {
	n, err := s.changed(ctx, "ending a run", `UPDATE ralph_runs SET state = ?, reason = ?, ended = ?, resume = 0
		WHERE id = ? AND state = 'queued'`, state, reason, micros(s.clock()), id)
	if n > 0 {
		s.notify(id)
	}
	return n > 0, err
}

// EndWaiting ends the runs of a task that wait, but for one that goes on where they stand.
func (s *Store) EndWaiting(ctx context.Context, by Run, state, reason string) error {
	return s.exec(ctx, "ending runs that wait", `UPDATE ralph_runs SET state = ?, reason = ?, ended = ?, resume = 0
		WHERE repository = ? AND subject = ? AND state = 'waiting' AND id <> ?`, state, reason, micros(s.clock()),
		by.Repository, by.Subject, by.ID)
}

const runColumns = `number, id, delivery, installation, repository, subject, title, person, kind, key, state, reason,
	attempt, kills, created, started, ended, resume, detail`

func runOf(row scan) (r Run, err error) {
	var created, started, ended, resume int64
	var detail []byte
	err = row(&r.Number, &r.ID, &r.Delivery, &r.Installation, &r.Repository, &r.Subject, &r.Title, &r.Person, &r.Kind, &r.Key,
		&r.State, &r.Reason, &r.Attempt, &r.Kills, &created, &started, &ended, &resume, &detail)
	r.Times = Times{fromMicros(created), fromMicros(started), fromMicros(ended), fromMicros(resume)}
	r.Detail = detail
	return r, err
}

// Run is one run; ErrNotFound if there is none.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	return one(ctx, s, ask("reading a run", "SELECT "+runColumns+" FROM ralph_runs WHERE id = ?", id), runOf)
}

// RunFilter says which runs a page shows. Empty fields ask for nothing.
type RunFilter struct {
	Repositories []string  // nil for all; an empty list for none
	States       []string  // nil for all; an empty list for none
	Since        time.Time // created then or later
	Before       int64     // only smaller numbers: the number of the last one of the page before
	Limit        int       // at most 1000, by default 100
}

// Runs are the newest runs of the filter.
func (s *Store) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	q := ask("listing runs", "SELECT "+runColumns+" FROM ralph_runs WHERE kind = ''").
		in("repository", f.Repositories).
		in("state", f.States).
		andIf(!f.Since.IsZero(), "AND created >= ?", micros(f.Since)).
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, runOf)
}
