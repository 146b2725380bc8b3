package store

import (
	"context"
	"time"
)

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
		VALUES (?, ?, ?, ?, ?)`, plain(run), micros(s.clock()), plain(w.Kind), plain(w.Person), plain(w.Text))
}

// Words are what was said to a run after a number, in order, at most 100.
func (s *Store) Words(ctx context.Context, run string, after int64) ([]Word, error) {
	q := ask("reading what was said to a run", `SELECT number, at, kind, person, text, told FROM ralph_words
		WHERE run = ? AND number > ? ORDER BY number LIMIT 100`, plain(run), after)
	return list(ctx, s, q, func(row scan) (w Word, err error) {
		var at int64
		err = row(&w.Number, &at, &w.Kind, &w.Person, &w.Text, &w.Record)
		w.At = fromMicros(at)
		return w, err
	})
}
