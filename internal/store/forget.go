package store

import (
	"context"
	"time"
)

// Retention says what is forgotten: what is older than these times. What has the zero time stays, and the sums of spend
// always do.
type Retention struct {
	Deliveries time.Time // decided ones: the id of one may come again after that, and would be fresh
	Records    time.Time // of runs that ended before
	Runs       time.Time // that ended before, with their records
	Audit      time.Time
}

// marksStay is how long spend may be sent a second time and is still known.
const marksStay = 30 * 24 * time.Hour

// Forget removes what is old, in small pieces, so that no one waits for it long; and sessions that have expired. It may
// be called at any time; a piece that is done stays done.
func (s *Store) Forget(ctx context.Context, r Retention) error {
	now := s.clock()
	records := r.Records
	if r.Runs.After(records) {
		records = r.Runs
	}
	// the database itself keeps the audit log from this time on
	if err := s.mark(ctx, "forgetting the audit log", "audit from", r.Audit); err != nil {
		return err
	}
	for _, old := range []struct {
		before            time.Time
		what, table, rows string
	}{
		// the number is nearly the order of time, so no one reads further than to the first that is young; payloads go along
		{r.Deliveries, "deliveries", "ralph_deliveries", `SELECT rowid FROM ralph_deliveries WHERE decided > 0 AND received < ?1
			AND number < coalesce((SELECT number FROM ralph_deliveries WHERE received >= ?1 ORDER BY number LIMIT 1), 1 << 62)`},
		{records, "records", "ralph_records", `SELECT r.rowid FROM ralph_runs JOIN ralph_records AS r ON r.run = id
			WHERE ended > 0 AND ended < ?1`},
		{r.Runs, "what was said to runs", "ralph_words", `SELECT w.rowid FROM ralph_runs JOIN ralph_words AS w ON w.run = id
			WHERE ended > 0 AND ended < ?1`},
		{r.Runs, "runs", "ralph_runs", "SELECT rowid FROM ralph_runs WHERE ended > 0 AND ended < ?1"},
		{r.Audit, "the audit log", "ralph_audit", "SELECT rowid FROM ralph_audit WHERE at < ?1"},
		{now, "sessions", "ralph_secrets", "SELECT rowid FROM ralph_secrets WHERE expires > 0 AND expires <= ?1"},
		{now.Add(-marksStay), "marks of spend", "ralph_spent", "SELECT rowid FROM ralph_spent WHERE at < ?1"},
	} {
		statement := "DELETE FROM " + old.table + " WHERE rowid IN (" + old.rows + " LIMIT 500)"
		for n := int64(1); n > 0; {
			var err error
			if n, err = s.changed(ctx, "forgetting "+old.what, statement, old.before); err != nil {
				return err
			}
		}
	}
	return s.giveBack(ctx)
}

// giveBack makes the file smaller by what is free in it, piece by piece.
func (s *Store) giveBack(ctx context.Context) error {
	for before := 0; ; {
		free, err := one[int](ctx, s, "reading how much of the file is free", "PRAGMA freelist_count")
		if err != nil || free == 0 || free == before { // the last is of a file that was made without this
			return err
		}
		before = free
		err = s.write(ctx, "giving free space back", func(t *transaction) error {
			_, err := rowsOf[struct{}](t.ctx, t.tx, "PRAGMA incremental_vacuum(1000)")
			return err
		})
		if err != nil {
			return err
		}
	}
}
