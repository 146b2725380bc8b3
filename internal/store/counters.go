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
	q := ask("reading the counters", "SELECT name, label, value FROM ralph_counters ORDER BY name, label")
	return list(ctx, s, q, func(row scan) (c Counter, err error) {
		err = row(&c.Name, &c.Label, &c.Value)
		return c, err
	})
}

// Delivered is how many deliveries were ever stored.
func (s *Store) Delivered(ctx context.Context) (int64, error) {
	return one(ctx, s, ask("counting deliveries", `SELECT coalesce(max(seq), 0) FROM sqlite_sequence
		WHERE name = 'ralph_deliveries'`), column[int64])
}

// addCounts adds to counters in a transaction.
func addCounts(t *transaction, some []Counter) error {
	for _, c := range some {
		if c.Value == 0 {
			continue
		}
		if _, err := t.exec(`INSERT INTO ralph_counters (name, label, value) VALUES (?, ?, ?)
			ON CONFLICT (name, label) DO UPDATE SET value = value + excluded.value`, c.Name, c.Label, c.Value); err != nil {
			return err
		}
	}
	return nil
}

// Entry is one thing that a person, or ralph by itself, has done.
type Entry struct {
	Number     int64 // given in the order of storing; ignored by Audit
	At         time.Time
	Person     string // a login; "" for ralph itself
	Action     string // "run.stop", "session.begin"
	Repository string // "owner/name"; "" for what concerns no repository
	Subject    string // what it was done to: the id of a run
	Result     string // "done", or why it was refused
}

// Audit adds an entry to the audit log, which is only ever added to. Its time is now if it is not set.
func (s *Store) Audit(ctx context.Context, e Entry) error {
	if e.At.IsZero() {
		e.At = s.clock()
	}
	return s.exec(ctx, "writing the audit log", `INSERT INTO ralph_audit (at, person, action, repository, subject, result)
		VALUES (?, ?, ?, ?, ?, ?)`, micros(e.At), e.Person, e.Action, e.Repository, e.Subject, e.Result)
}

// AuditFilter selects the entries of a page.
type AuditFilter struct {
	Repositories []string // nil for all; an empty list for none
	Before       int64    // only smaller numbers: the number of the last one of the page before
	Limit        int      // at most 1000, by default 100
}

// Audits are the newest entries of the filter.
func (s *Store) Audits(ctx context.Context, f AuditFilter) ([]Entry, error) {
	q := ask("reading the audit log", `SELECT number, at, person, action, repository, subject, result
		FROM ralph_audit WHERE 1 = 1`).
		in("repository", f.Repositories).
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, func(row scan) (e Entry, err error) {
		var at int64
		err = row(&e.Number, &at, &e.Person, &e.Action, &e.Repository, &e.Subject, &e.Result)
		e.At = fromMicros(at)
		return e, err
	})
}
