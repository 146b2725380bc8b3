package store

import (
	"context"
	"time"
)

// Run is the row of a run: what lists and pages show of it. All that happened in it is in its records.
type Run struct {
	Number       int64  // given in the order of storing
	ID           string // at most 200 bytes
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
	Detail []byte // JSON, for the pages; may be nil
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
	Resume  time.Time // when a waiting run continues, and before when a queued one does not begin
}

// putRun is PutRun in a transaction.
func (s *Store) putRun(t *transaction, r Run) error {
	return s.storeRun(t, r, ` DO UPDATE SET delivery = excluded.delivery, installation = excluded.installation,
		repository = excluded.repository, subject = excluded.subject, title = excluded.title, person = excluded.person,
		kind = excluded.kind, key = excluded.key, state = excluded.state, reason = excluded.reason,
		attempt = excluded.attempt, kills = excluded.kills, started = excluded.started, ended = excluded.ended,
		resume = excluded.resume, detail = excluded.detail`)
}

// addRun stores a run, unless there is one with its ID.
func (s *Store) addRun(t *transaction, r Run) error { return s.storeRun(t, r, " DO NOTHING") }

func (s *Store) storeRun(t *transaction, r Run, ifThere string) error {
	r.Number = 0
	if r.Times.Created.IsZero() {
		r.Times.Created = s.clock()
	}
	return t.insert("ralph_runs", &r, " ON CONFLICT (id)"+ifThere)
}

// Add stores a run, unless there is one with its ID.
func (s *Store) Add(ctx context.Context, r Run) error {
	return s.write(ctx, "storing a run", func(t *transaction) error { return s.addRun(t, r) })
}

// Drop removes what has become no run.
func (s *Store) Drop(ctx context.Context, id string) error {
	return s.exec(ctx, "dropping a job", "DELETE FROM ralph_runs WHERE id = ? AND kind <> ''", id)
}

// Take has a run that waits be worked on by a new process; ErrNotFound when it does not wait any more.
func (s *Store) Take(ctx context.Context, id string) (Run, error) {
	if err := s.must(ctx, "taking a run", `UPDATE ralph_runs SET state = 'running', reason = '', resume = ?,
		attempt = attempt + 1, started = iif(started > 0, started, ?)
		WHERE id = ? AND (state = 'queued' OR state = 'waiting' AND resume > 0)`, time.Time{}, s.clock(), id); err != nil {
		return Run{}, err
	}
	s.notify(id)
	return s.Run(ctx, id)
}

// longestPause is how long a queued run waits before it begins again, at most: one that seems to wait longer does so
// since the clock was set back.
const longestPause = 10 * time.Minute

// Due are the answers, or the runs and sweeps, that wait for nothing but a place, the oldest first.
func (s *Store) Due(ctx context.Context, answers bool) ([]Run, error) {
	now := s.clock()
	return list[Run](ctx, s, "reading runs that wait", `SELECT * FROM ralph_runs WHERE state IN ('queued', 'waiting')
		AND (kind = 'answer') = ? AND (resume <= ? AND (state = 'queued' OR resume > 0) OR state = 'queued' AND resume > ?)
		ORDER BY number`, answers, now, now.Add(longestPause))
}

// Depth is how many runs wait for a place, how many for a time, and since when the oldest of the first does.
func (s *Store) Depth(ctx context.Context) (waiting, delayed int, oldest time.Time, err error) {
	found, err := one[struct {
		Waiting, Delayed int
		Oldest           *int64
	}](ctx, s, "counting runs that wait", `SELECT count(iif(resume <= ?1, 1, NULL)), count(iif(resume > ?1, 1, NULL)),
		min(iif(resume <= ?1, max(resume, created), NULL))
		FROM ralph_runs WHERE kind = '' AND (state = 'queued' OR state = 'waiting' AND resume > 0)`, s.clock())
	if found.Oldest != nil {
		oldest = time.UnixMicro(*found.Oldest)
	}
	return found.Waiting, found.Delayed, oldest, err
}

// EndQueued stores how a run ended that waits for a place, and reports whether it did.
func (s *Store) EndQueued(ctx context.Context, id, state, reason string) (bool, error) {
	n, err := s.changed(ctx, "ending a run", `UPDATE ralph_runs SET state = ?, reason = ?, ended = ?, resume = ?
		WHERE id = ? AND state = 'queued'`, state, reason, s.clock(), time.Time{}, id)
	if n > 0 {
		s.notify(id)
	}
	return n > 0, err
}

// EndWaiting ends the runs of a task that wait, but for one that continues where they stand.
func (s *Store) EndWaiting(ctx context.Context, by Run, state, reason string) error {
	return s.exec(ctx, "ending runs that wait", `UPDATE ralph_runs SET state = ?, reason = ?, ended = ?, resume = ?
		WHERE repository = ? AND subject = ? AND state = 'waiting' AND id <> ?`, state, reason, s.clock(), time.Time{},
		by.Repository, by.Subject, by.ID)
}

// Run is one run; ErrNotFound if there is none.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, s, "reading a run", "SELECT * FROM ralph_runs WHERE id = ?", id)
}

// Runs are the newest runs of the filter.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	return page[Run](ctx, s, "listing runs", "SELECT * FROM ralph_runs WHERE kind = ''", f)
}
