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

// Forgotten is how much was removed.
type Forgotten struct{ Deliveries, Records, Runs, Audit, Sessions int }

// marksStay is how long spend may be sent a second time and is still known.
const marksStay = 30 * 24 * time.Hour

// Forget removes what is old, in small pieces, so that nobody waits for it long; and sessions that have expired. It may
// be called at any time; a piece that is done stays done.
func (s *Store) Forget(ctx context.Context, r Retention) (f Forgotten, err error) {
	now := s.clock()
	for _, step := range []struct {
		n      *int
		before time.Time
		forget func(ctx context.Context, before int64) (int, error)
	}{
		{&f.Deliveries, r.Deliveries, s.forgetDeliveries},
		{&f.Records, r.Records, s.forgetRecords},
		{&f.Runs, r.Runs, s.forgetRuns},
		{&f.Audit, r.Audit, s.forgetAudit},
		{&f.Sessions, now, s.forgetSessions},
		{new(int), now.Add(-marksStay), s.forgetMarks},
	} {
		if step.before.IsZero() {
			continue
		}
		if *step.n, err = step.forget(ctx, micros(step.before)); err != nil {
			return f, err
		}
	}
	return f, s.giveBack(ctx)
}

// repeat executes a statement until it changes nothing more.
func (s *Store) repeat(ctx context.Context, doing, statement string, args ...any) (total int, err error) {
	for {
		n, err := s.changed(ctx, doing, statement, args...)
		if err != nil || n == 0 {
			return total, err
		}
		total += int(n)
	}
}

// forgetDeliveries walks by number, which is nearly the order of time, up to the first piece that is young altogether.
// Payloads go with their deliveries.
func (s *Store) forgetDeliveries(ctx context.Context, before int64) (total int, err error) {
	type piece struct{ last, oldest int64 }
	for after := int64(0); ; {
		next, err := one(ctx, s, ask("forgetting deliveries", `SELECT coalesce(max(number), 0), coalesce(min(received), 0)
			FROM (SELECT number, received FROM ralph_deliveries WHERE number > ? ORDER BY number LIMIT 500) AS piece`, after),
			func(row scan) (p piece, err error) {
				err = row(&p.last, &p.oldest)
				return p, err
			})
		if err != nil || next.last == 0 || next.oldest >= before {
			return total, err
		}
		n, err := s.changed(ctx, "forgetting deliveries", `DELETE FROM ralph_deliveries
			WHERE number > ? AND number <= ? AND received < ? AND decided <> 0`, after, next.last, before)
		if err != nil {
			return total, err
		}
		total += int(n)
		after = next.last
	}
}

func (s *Store) forgetRecords(ctx context.Context, before int64) (total int, err error) {
	for {
		q := ask("forgetting records", `SELECT id FROM ralph_runs WHERE ended <> 0 AND ended < ?
			AND EXISTS (SELECT 1 FROM ralph_records WHERE run = ralph_runs.id) ORDER BY ended LIMIT 100`, before)
		runs, err := list(ctx, s, q, column[string])
		if err != nil || len(runs) == 0 {
			return total, err
		}
		for _, run := range runs {
			n, err := s.repeat(ctx, "forgetting records", `DELETE FROM ralph_records WHERE run = ? AND number IN (
				SELECT number FROM ralph_records WHERE run = ? ORDER BY number LIMIT 500)`, run, run)
			total += n
			if err != nil {
				return total, err
			}
		}
	}
}

// forgetRuns removes rows with what is of them alone.
func (s *Store) forgetRuns(ctx context.Context, before int64) (int, error) {
	if _, err := s.forgetRecords(ctx, before); err != nil {
		return 0, err
	}
	if _, err := s.repeat(ctx, "forgetting what was said to runs", `DELETE FROM ralph_words WHERE number IN (
		SELECT w.number FROM ralph_words AS w JOIN ralph_runs AS r ON r.id = w.run
		WHERE r.ended <> 0 AND r.ended < ? LIMIT 500)`, before); err != nil {
		return 0, err
	}
	return s.repeat(ctx, "forgetting runs", `DELETE FROM ralph_runs WHERE number IN (
		SELECT number FROM ralph_runs WHERE ended <> 0 AND ended < ? LIMIT 500)`, before)
}

// forgetAudit moves the time from which the database keeps the log, and removes what is older.
func (s *Store) forgetAudit(ctx context.Context, before int64) (int, error) {
	if err := s.exec(ctx, "forgetting the audit log", `INSERT INTO ralph_about (name, value) VALUES ('audit from', ?)
		ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`, before); err != nil {
		return 0, err
	}
	return s.repeat(ctx, "forgetting the audit log", `DELETE FROM ralph_audit WHERE number IN (
		SELECT number FROM ralph_audit WHERE at < ? LIMIT 500)`, before)
}

func (s *Store) forgetSessions(ctx context.Context, before int64) (int, error) {
	n, err := s.changed(ctx, "forgetting sessions", "DELETE FROM ralph_sessions WHERE expires <= ?", before)
	return int(n), err
}

func (s *Store) forgetMarks(ctx context.Context, before int64) (int, error) {
	return s.repeat(ctx, "forgetting marks of spend", `DELETE FROM ralph_spent WHERE mark IN (
		SELECT mark FROM ralph_spent WHERE at < ? ORDER BY at LIMIT 1000)`, before)
}

// giveBack makes the file smaller by what is free in it, piece by piece.
func (s *Store) giveBack(ctx context.Context) error {
	free := ask("reading how much of the file is free", "PRAGMA freelist_count")
	for {
		n, err := one(ctx, s, free, column[int])
		if err != nil || n == 0 {
			return err
		}
		vacuum := ask("", "PRAGMA incremental_vacuum(1000)")
		err = s.writing(ctx, "giving free space back", func(ctx context.Context) error {
			_, err := rowsOf(ctx, s.db, vacuum, func(scan) (struct{}, error) { return struct{}{}, nil })
			return err
		})
		if err != nil {
			return err
		}
		left, err := one(ctx, s, free, column[int])
		if err != nil || left >= n { // a file that was made without this
			return err
		}
	}
}
