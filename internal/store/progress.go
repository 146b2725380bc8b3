package store

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Progress is what a run has come to since the last time: its row, the whole of it, and what is new.
type Progress struct {
	Run     Run
	Records []Record
	Spent   []Spent
	Counts  []Counter // what is added to counters
}

// Spent is spend that counts once by its mark.
type Spent struct {
	Mark   string
	Spend  Spend
	Counts []Counter // what is added to counters with it
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
	err := s.write(ctx, "storing a run", func(t *transaction) error { return s.put(t, p) })
	if err == nil {
		s.notify(p.Run.ID)
	}
	return err
}

// PutRun stores the row of a run, the whole of it. Created stays what it was first.
func (s *Store) PutRun(ctx context.Context, r Run) error { return s.PutProgress(ctx, Progress{Run: r}) }

func (s *Store) put(t *transaction, p Progress) error {
	if err := s.putRun(t, p.Run); err != nil {
		return err
	}
	for _, r := range p.Records {
		if _, err := t.exec("INSERT INTO ralph_records VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, number) DO NOTHING", p.Run.ID,
			r.Number, r.At, r.Kind, r.Body); err != nil {
			return err
		}
	}
	for _, spent := range p.Spent {
		fresh, err := s.addSpend(t, spent.Mark, spent.Spend)
		if err == nil && fresh {
			err = addCounts(t, spent.Counts)
		}
		if err != nil {
			return err
		}
	}
	return addCounts(t, p.Counts)
}

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
