package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Progress is what a run has come to since the last time: its row, the whole of it, and what is new.
type Progress struct {
	Run     Run
	Records []Record
	Spent   []Spent
	Told    []Told
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
// when it is not known whether it was stored. ErrOutdated says that a later attempt works on the run.
func (s *Store) PutProgress(ctx context.Context, p Progress) error {
	r := p.Run
	if r.ID == "" || len(r.ID) > longestID || plain(r.ID) != r.ID {
		return invalid.Errorf("the id of a run has %d bytes: it has to have between 1 and %d, of a text",
			len(r.ID), longestID)
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
		return s.addSpent(t, p.Spent)
	})
	if err == nil {
		s.notify(r.ID)
	}
	return err
}

// addSpent takes rows in one order everywhere, so that two servers do not wait for each other in a circle.
func (s *Store) addSpent(t *transaction, list []Spent) error {
	sums := map[counter]int64{}
	for _, p := range slices.SortedFunc(slices.Values(list), func(a, b Spent) int {
		return cmp.Or(cmp.Compare(a.Spend.Model, b.Spend.Model), cmp.Compare(a.Mark, b.Mark))
	}) {
		fresh, err := s.addSpend(t, p.Mark, p.Spend)
		if err != nil {
			return err
		}
		for _, c := range p.Counts {
			if fresh && c.Value != 0 {
				sums[counter{plain(c.Name), plain(c.Label)}] += c.Value
			}
		}
	}
	return addCounts(t, sums)
}
