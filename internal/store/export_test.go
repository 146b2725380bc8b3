package store

import "context"

// Append stores records of a run, all or none. A number that is stored already is left as it is, so records may be sent
// twice. Watchers of the run hear of it.
func (s *Store) Append(ctx context.Context, run string, records []Record) error {
	return s.PutProgress(ctx, Progress{Run: Run{ID: run}, Records: records})
}
