package store

import (
	"context"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Progress is what a run has come to since the last time: its row, the whole of it, and what is new.
type Progress struct {
	Run     Run
	Records []Record
	Spent   []Spent
	Told    []Told
	Counts  []Counter // what is added to counters
}

// Spent is spend that counts once by its mark.
type Spent struct {
	Mark   string
	Spend  Spend
	Counts []Counter // what is added to counters with it
}

// Told says which record of the run's journal a word has become.
type Told struct {
	Word   int64 // its number
	Record int   // from 1
}

// PutProgress stores all of it or nothing, so that a process that dies leaves no half of it. The same may be sent again
// when it is not known whether it was stored.
func (s *Store) PutProgress(ctx context.Context, p Progress) error {
	r := p.Run
	if r.ID == "" || len(r.ID) > longestID {
		return invalid.Errorf("the id of a run has %d bytes: it has to have between 1 and %d", len(r.ID), longestID)
	}
	if err := whole(r.ID, p.Records); err != nil {
		return err
	}
	err := s.write(ctx, "storing a run", func(t *transaction) error {
		if err := s.putRun(t, r); err != nil {
			return err
		}
		if err := appendTo(t, r.ID, p.Records); err != nil {
			return err
		}
		for _, told := range p.Told {
			if _, err := t.exec("UPDATE ralph_words SET told = ? WHERE number = ? AND run = ?", told.Record, told.Word,
				r.ID); err != nil {
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
	})
	if err == nil {
		s.notify(r.ID)
	}
	return err
}

// Word is something that a person says to a run while it works, on whatever server that is.
type Word struct {
	Number int64  // given in the order of storing; ignored by Say
	Kind   string // "stop", "hint"
	Person string // a login
	Text   string
	At     time.Time
	Record int // which record of the run's journal it has become; 0: none that is stored. Ignored by Say
}

// Say stores a word for a run.
func (s *Store) Say(ctx context.Context, run string, w Word) error {
	return s.exec(ctx, "storing what was said to a run", `INSERT INTO ralph_words (run, at, kind, person, text)
		VALUES (?, ?, ?, ?, ?)`, run, micros(s.clock()), w.Kind, w.Person, w.Text)
}

// Words are what was said to a run after a number, in order, at most 100.
func (s *Store) Words(ctx context.Context, run string, after int64) ([]Word, error) {
	q := ask("reading what was said to a run", `SELECT number, at, kind, person, text, told FROM ralph_words
		WHERE run = ? AND number > ? ORDER BY number LIMIT 100`, run, after)
	return list(ctx, s, q, func(row scan) (w Word, err error) {
		var at int64
		err = row(&w.Number, &at, &w.Kind, &w.Person, &w.Text, &w.Record)
		w.At = fromMicros(at)
		return w, err
	})
}

// Record is one thing that happened in a run, in the order of the numbers.
type Record struct {
	Number int64 // from 1, each once in a run
	At     time.Time
	Kind   string // "turned"
	Body   []byte // any bytes, at most 16 MB
}

// LargestBody is how many bytes the body of a record may have.
const LargestBody = 16 << 20

const atOnce = 200 // rows in one statement

// whole refuses records that cannot be stored.
func whole(run string, records []Record) error {
	for _, r := range records {
		if len(r.Body) > LargestBody || r.Number < 1 {
			return invalid.Errorf("record %d of run %q has %d bytes: numbers begin at 1, and a record has at most %d bytes",
				r.Number, run, len(r.Body), LargestBody)
		}
	}
	return nil
}

// appendTo stores records of a run. A number that is stored already is left as it is, so records may be sent twice.
func appendTo(t *transaction, run string, records []Record) error {
	for rest := records; len(rest) > 0; rest = rest[min(atOnce, len(rest)):] {
		some := rest[:min(atOnce, len(rest))]
		args := make([]any, 0, 5*len(some))
		for _, r := range some {
			args = append(args, run, r.Number, micros(r.At), r.Kind, bytesOf(r.Body))
		}
		if _, err := t.exec("INSERT INTO ralph_records (run, number, at, kind, body) VALUES (?, ?, ?, ?, ?)"+
			strings.Repeat(", (?, ?, ?, ?, ?)", len(some)-1)+" ON CONFLICT (run, number) DO NOTHING", args...); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf makes no bytes an empty value, since nil is none at all.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Records are the records of a run with numbers above after, in order; at most limit of them, which is at most 20,000
// and by default 100.
func (s *Store) Records(ctx context.Context, run string, after int64, limit int) ([]Record, error) {
	q := ask("reading records", `SELECT number, at, kind, body FROM ralph_records WHERE run = ? AND number > ?
		ORDER BY number LIMIT ?`, run, after, several(limit, 20_000))
	return list(ctx, s, q, func(row scan) (r Record, err error) {
		var at int64
		err = row(&r.Number, &at, &r.Kind, &r.Body)
		r.At = fromMicros(at)
		return r, err
	})
}

// LastRecord is the highest number of a run's records, 0 for none.
func (s *Store) LastRecord(ctx context.Context, run string) (int64, error) {
	return one(ctx, s, ask("reading the last record", "SELECT coalesce(max(number), 0) FROM ralph_records WHERE run = ?",
		run), column[int64])
}
