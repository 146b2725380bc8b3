package store

import (
	"context"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// AddSpend adds to the sums of a day, installation, repository, person and model, once for each mark: a text that names
// the turn, such as "run/attempt/record". The day is today if it is not set.
func (s *Store) AddSpend(ctx context.Context, mark string, p Spend) error {
	if mark == "" {
		return invalid.Errorf("spend without a mark, which keeps it from being counted twice")
	}
	return s.write(ctx, "storing what was spent", func(t *transaction) error {
		_, err := s.addSpend(t, mark, p)
		return err
	})
}

// Append stores records of a run, all or none. A number that is stored already is left as it is, so records may be sent
// twice. Watchers of the run hear of it.
func (s *Store) Append(ctx context.Context, run string, records []Record) error {
	return s.PutProgress(ctx, Progress{Run: Run{ID: run}, Records: records})
}
