package store

import (
	"context"

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
