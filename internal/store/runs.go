package store

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
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
	Person       string // the login of the requester
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

const longestID = 200 // bytes of the id of a delivery or a run

// What storeRun does when there is a run with its ID.
const (
	keepRun    = " DO NOTHING"
	replaceRun = ` DO UPDATE SET delivery = excluded.delivery, installation = excluded.installation,
		repository = excluded.repository, subject = excluded.subject, title = excluded.title, person = excluded.person,
		kind = excluded.kind, key = excluded.key, state = excluded.state, reason = excluded.reason,
		attempt = excluded.attempt, kills = excluded.kills, started = excluded.started, ended = excluded.ended,
		resume = excluded.resume, detail = excluded.detail`
)

func (s *Store) storeRun(t *transaction, r Run, ifThere string) error {
	r.Number = 0
	if r.Times.Created.IsZero() {
		r.Times.Created = s.clock()
	}
	return t.insert("ralph_runs", &r, " ON CONFLICT (id)"+ifThere)
}

// Add stores a run, unless there is one with its ID.
func (s *Store) Add(ctx context.Context, r Run) error {
	return s.write(ctx, "storing a run", func(t *transaction) error { return s.storeRun(t, r, keepRun) })
}

// Drop removes what has become no run.
func (s *Store) Drop(ctx context.Context, id string) error {
	return s.exec(ctx, "dropping a job", "DELETE FROM ralph_runs WHERE id = ? AND kind <> ''", id)
}

// Take has a run that waits be worked on by a new process; ErrNotFound when it no longer waits.
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

// Run is one run, or ErrNotFound.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, s, "reading a run", "SELECT * FROM ralph_runs WHERE id = ?", id)
}

// Runs are the newest runs of the filter.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	return page[Run](ctx, s, "listing runs", "SELECT * FROM ralph_runs WHERE kind = ''", f)
}

// Progress is what a run has come to since the last time: its row, the whole of it, and what is new.
type Progress struct {
	Run     Run
	Records []Record
	Ended   bool // it has ended now, and counts among those of its state
}

// PutProgress stores all of it or nothing, so that a process that dies leaves no half of it. The same may be sent again
// when it is not known whether it was stored. Watchers of the run hear of it.
func (s *Store) PutProgress(ctx context.Context, p Progress) error {
	if id := p.Run.ID; id == "" || len(id) > longestID {
		return invalid.Errorf("the id of a run has %d bytes: it has to have between 1 and %d", len(id), longestID)
	}
	for _, r := range p.Records {
		if len(r.Body) > LargestBody || r.Number < 1 {
			return invalid.Errorf("record %d of run %q has %d bytes: numbers begin at 1, and a record has at most %d bytes",
				r.Number, p.Run.ID, len(r.Body), LargestBody)
		}
	}
	err := s.write(ctx, "storing a run", func(t *transaction) error {
		err := s.storeRun(t, p.Run, replaceRun)
		for _, r := range p.Records {
			if err == nil {
				_, err = t.exec("INSERT INTO ralph_records VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, number) DO NOTHING", p.Run.ID,
					r.Number, r.At, r.Kind, r.Body)
			}
		}
		if err == nil && p.Ended {
			_, err = t.exec("INSERT INTO ralph_ended VALUES (?, 1) ON CONFLICT (state) DO UPDATE SET runs = runs + 1", p.Run.State)
		}
		return err
	})
	if err == nil {
		s.notify(p.Run.ID)
	}
	return err
}

// PutRun stores the row of a run, the whole of it. Created stays what it was first.
func (s *Store) PutRun(ctx context.Context, r Run) error { return s.PutProgress(ctx, Progress{Run: r}) }

// Word is something that a person says to a run while it works, on whatever server that is.
type Word struct {
	Number int64  // given in the order of storing
	Run    string // its id
	Kind   string // "stop", "hint"
	Person string // a login
	Text   string
	At     time.Time
}

// Say stores a word for a run, said now.
func (s *Store) Say(ctx context.Context, w Word) error {
	w.At = s.clock()
	return s.write(ctx, "storing what was said to a run", func(t *transaction) error {
		return t.insert("ralph_words", &w, "")
	})
}

// Words are what was said to a run after a number, in order, at most 100.
func (s *Store) Words(ctx context.Context, run string, after int64) ([]Word, error) {
	return list[Word](ctx, s, "reading what was said to a run", `SELECT * FROM ralph_words WHERE run = ? AND number > ?
		ORDER BY number LIMIT 100`, run, after)
}

// Record is one thing that happened in a run, in the order of the numbers.
type Record struct {
	Number int64 // from 1, each once in a run; one that is stored already stays as it is
	At     time.Time
	Kind   string // "turned"
	Body   []byte // any bytes, at most 16 MB
}

// LargestBody is how many bytes the body of a record may have.
const LargestBody = 16 << 20

// Records are the records of a run with numbers above after, in order; at most limit of them, which is at most 20,000
// and by default 100.
func (s *Store) Records(ctx context.Context, run string, after int64, limit int) ([]Record, error) {
	return list[Record](ctx, s, "reading records", `SELECT number, at, kind, body FROM ralph_records
		WHERE run = ? AND number > ? ORDER BY number LIMIT ?`, run, after, limited(limit, 20_000))
}

// LastRecord is the highest number of a run's records, 0 for none.
func (s *Store) LastRecord(ctx context.Context, run string) (int64, error) {
	return one[int64](ctx, s, "reading the last record", `SELECT coalesce(max(number), 0) FROM ralph_records
		WHERE run = ?`, run)
}
