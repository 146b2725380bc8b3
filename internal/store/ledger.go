package store

import (
	"context"
	"time"
)

// Ended is how many runs have ever ended in one way, over all restarts.
type Ended struct {
	State string // "done"
	Runs  int64
}

// Ended lists how many runs have ended in each way.
func (s *Store) Ended(ctx context.Context) ([]Ended, error) {
	return list[Ended](ctx, s, "counting runs that have ended", "SELECT * FROM ralph_ended ORDER BY state")
}

// Entry is one thing that a person, or ralph by itself, has done.
type Entry struct {
	Number     int64 // given in the order of storing
	At         time.Time
	Person     string // a login; "" for ralph itself
	Action     string // "run.stop", "session.begin"
	Repository string // "owner/name"; "" for what concerns no repository
	Subject    string // what it was done to: the id of a run
	Result     string // "done", or why it was refused
}

// Audit adds an entry to the audit log, which is only ever added to, at this time.
func (s *Store) Audit(ctx context.Context, e Entry) error {
	e.At = s.clock()
	return s.write(ctx, "writing the audit log", func(t *transaction) error { return t.insert("ralph_audit", &e, "") })
}

// Audits are the newest entries of the filter.
func (s *Store) Audits(ctx context.Context, f Filter) ([]Entry, error) {
	return page[Entry](ctx, s, "reading the audit log", "SELECT * FROM ralph_audit WHERE 1 = 1", f)
}
