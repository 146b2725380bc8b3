package store

import (
	"context"
	"time"
)

// Counter is a number that only grows, over all restarts.
type Counter struct {
	Name  string // "ralph_runs_total"
	Label string // "done"
	Value int64
}

// Counters are all counters, by name and label.
func (s *Store) Counters(ctx context.Context) ([]Counter, error) {
	return list[Counter](ctx, s, "reading the counters", "SELECT * FROM ralph_counters ORDER BY name, label")
}

// addCounts adds to counters in a transaction.
func addCounts(t *transaction, some []Counter) error {
	for _, c := range some {
		if c.Value == 0 {
			continue
		}
		if _, err := t.exec(`INSERT INTO ralph_counters VALUES (?, ?, ?)
			ON CONFLICT (name, label) DO UPDATE SET value = value + excluded.value`, c.Name, c.Label, c.Value); err != nil {
			return err
		}
	}
	return nil
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
