package store

import (
	"context"
	"encoding/json"
	"errors"
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
	State        string // "queued", "running", "waiting", or how it ended
	Reason       string // a sentence: what it waits for, why it ended
	Attempt      int    // which process works on it, from 1
	Times        Times
	Detail       json.RawMessage // for the pages; may be nil
}

// Times of a run, in UTC; the zero time for what has not been.
type Times struct {
	Created time.Time // now, if PutRun gets none for a new run
	Started time.Time
	Ended   time.Time
	Resume  time.Time // when a waiting run goes on
}

// ErrOutdated is returned to a process that another one has taken its run from.
var ErrOutdated = errors.New("a later attempt works on this run")

// PutRun stores the row of a run, the whole of it. Created stays what it was first. A row of an attempt that is lower
// than the stored one's is refused with ErrOutdated: its process was taken for dead.
func (s *Store) PutRun(ctx context.Context, r Run) error { return s.PutProgress(ctx, Progress{Run: r}) }

// putRun is PutRun in a transaction.
func (s *Store) putRun(t *transaction, r Run) error {
	if r.Times.Created.IsZero() {
		r.Times.Created = s.clock()
	}
	n, err := t.exec(`INSERT INTO ralph_runs (id, delivery, installation, repository, subject,
		title, person, state, reason, attempt, created, started, ended, resume, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET delivery = excluded.delivery, installation = excluded.installation,
		repository = excluded.repository, subject = excluded.subject, title = excluded.title, person = excluded.person,
		state = excluded.state, reason = excluded.reason, attempt = excluded.attempt, started = excluded.started,
		ended = excluded.ended, resume = excluded.resume, detail = excluded.detail
		WHERE ralph_runs.attempt <= excluded.attempt`,
		r.ID, plain(r.Delivery), r.Installation, plain(r.Repository), plain(r.Subject), plain(r.Title), plain(r.Person),
		plain(r.State), plain(r.Reason), r.Attempt, micros(r.Times.Created), micros(r.Times.Started),
		micros(r.Times.Ended), micros(r.Times.Resume), []byte(r.Detail))
	if err == nil && n == 0 {
		err = ErrOutdated
	}
	return err
}

const runColumns = `number, id, delivery, installation, repository, subject, title, person, state, reason, attempt,
	created, started, ended, resume, detail`

func runOf(row scan) (r Run, err error) {
	var created, started, ended, resume int64
	var detail []byte
	err = row(&r.Number, &r.ID, &r.Delivery, &r.Installation, &r.Repository, &r.Subject, &r.Title, &r.Person, &r.State,
		&r.Reason, &r.Attempt, &created, &started, &ended, &resume, &detail)
	r.Times = Times{fromMicros(created), fromMicros(started), fromMicros(ended), fromMicros(resume)}
	r.Detail = detail
	return r, err
}

// Run is one run; ErrNotFound if there is none.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	return one(ctx, s, ask("reading a run", "SELECT "+runColumns+" FROM ralph_runs WHERE id = ?", plain(id)), runOf)
}

// RunFilter says which runs a page shows. Empty fields ask for nothing.
type RunFilter struct {
	Repositories []string // nil for all; an empty list for none
	States       []string // nil for all; an empty list for none
	Subject      string
	Person       string
	Since        time.Time // created then or later
	Before       int64     // only smaller numbers: the number of the last one of the page before
	Limit        int       // at most 1000, by default 100
}

// Runs are the newest runs of the filter.
func (s *Store) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	q := ask("listing runs", "SELECT "+runColumns+" FROM ralph_runs WHERE 1 = 1").
		in("repository", f.Repositories).
		in("state", f.States).
		andIf(f.Subject != "", "AND subject = ?", plain(f.Subject)).
		andIf(f.Person != "", "AND person = ?", plain(f.Person)).
		andIf(!f.Since.IsZero(), "AND created >= ?", micros(f.Since)).
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, runOf)
}
