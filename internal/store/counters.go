package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Counter is a number that only grows, over all restarts and all servers.
type Counter struct {
	Name  string // "ralph_deliveries_total"
	Label string // `result="taken"`
	Value int64
}

// counter is what a count is of.
type counter struct{ name, label string }

// counts are what was counted and is not written yet.
type counts struct {
	locked[map[counter]int64]
	end  chan struct{}
	done chan struct{}
}

// everyCount is how often counts are written.
const everyCount = time.Second

// Count adds one to a counter. It does not wait for the database: counts are written each second and by Close, and a
// process that is killed loses those of its last second. So what costs nothing to send, a forged delivery, does not
// cost a write.
func (s *Store) Count(name, label string) { s.Add(name, label, 1) }

// Add adds to a counter, as Count does.
func (s *Store) Add(name, label string, n int64) {
	s.counts.do(func(all *map[counter]int64) {
		if *all == nil {
			*all = map[counter]int64{}
		}
		(*all)[counter{plain(name), plain(label)}] += n
	})
}

// Counters are all counters, with what this process has not written yet, by name and label.
func (s *Store) Counters(ctx context.Context) ([]Counter, error) {
	sums := map[counter]int64{}
	_, err := list(ctx, s, ask("reading the counters", "SELECT name, label, value FROM ralph_counters"),
		func(row scan) (struct{}, error) {
			var c counter
			var n int64
			err := row(&c.name, &c.label, &n)
			sums[c] = n
			return struct{}{}, err
		})
	if err != nil {
		return nil, err
	}
	s.counts.do(func(all *map[counter]int64) {
		for c, n := range *all {
			sums[c] += n
		}
	})
	found := make([]Counter, 0, len(sums))
	for _, c := range ordered(sums) {
		found = append(found, Counter{c.name, c.label, sums[c]})
	}
	return found, nil
}

// ordered are the counters in one order everywhere: two servers that write them do not wait for each other in a circle.
func ordered(sums map[counter]int64) []counter {
	return slices.SortedFunc(maps.Keys(sums), func(a, b counter) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.label, b.label))
	})
}

// beginCounting writes what was counted now and then.
func (s *Store) beginCounting() {
	s.counts.end, s.counts.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.counts.done)
		tick := time.NewTicker(everyCount)
		defer tick.Stop()
		for {
			select {
			case <-s.counts.end:
				return
			case <-tick.C:
				_ = s.writeCounts(context.Background()) // what cannot be written is kept for the next time
			}
		}
	}()
}

// endCounting writes the last counts.
func (s *Store) endCounting(ctx context.Context) error {
	if s.counts.end == nil {
		return nil
	}
	close(s.counts.end)
	<-s.counts.done
	s.counts.end = nil
	return s.writeCounts(ctx)
}

// writeCounts adds what was counted to the rows.
func (s *Store) writeCounts(ctx context.Context) error {
	var some map[counter]int64
	s.counts.do(func(all *map[counter]int64) { some, *all = *all, nil })
	if len(some) == 0 {
		return nil
	}
	err := s.write(ctx, "writing the counters", func(t *transaction) error { return addCounts(t, some) })
	if err != nil {
		for c, n := range some {
			s.Add(c.name, c.label, n)
		}
	}
	return err
}

// addCounts adds to the rows of counters in a transaction.
func addCounts(t *transaction, some map[counter]int64) error {
	for _, c := range ordered(some) {
		if _, err := t.exec(`INSERT INTO ralph_counters (name, label, value) VALUES (?, ?, ?)
			ON CONFLICT (name, label) DO UPDATE SET value = ralph_counters.value + excluded.value`,
			c.name, c.label, some[c]); err != nil {
			return err
		}
	}
	return nil
}

// Entry is one thing that a person, or ralph by itself, has done.
type Entry struct {
	Number     int64 // given in the order of storing; ignored by Audit
	At         time.Time
	Person     string          // a login; "" for ralph itself
	Action     string          // "run.stop", "session.begin"
	Repository string          // "owner/name"; "" for what concerns no repository
	Subject    string          // what it was done to: the id of a run
	Result     string          // "done", or why it was refused
	Detail     json.RawMessage // may be nil
}

// Audit adds an entry to the audit log, which is only ever added to. Its time is now if it is not set.
func (s *Store) Audit(ctx context.Context, e Entry) error {
	if e.At.IsZero() {
		e.At = s.clock()
	}
	return s.exec(ctx, "writing the audit log", `INSERT INTO ralph_audit (at, person, action, repository, subject, result,
		detail) VALUES (?, ?, ?, ?, ?, ?, ?)`, micros(e.At), plain(e.Person), plain(e.Action), plain(e.Repository),
		plain(e.Subject), plain(e.Result), []byte(e.Detail))
}

// AuditFilter says which entries a page shows. Empty fields ask for nothing.
type AuditFilter struct {
	Repositories []string // nil for all; an empty list for none
	Person       string
	Action       string
	Subject      string
	Before       int64 // only smaller numbers: the number of the last one of the page before
	Limit        int   // at most 1000, by default 100
}

// Audits are the newest entries of the filter.
func (s *Store) Audits(ctx context.Context, f AuditFilter) ([]Entry, error) {
	q := ask("reading the audit log", `SELECT number, at, person, action, repository, subject, result, detail
		FROM ralph_audit WHERE 1 = 1`).
		in("repository", f.Repositories).
		andIf(f.Person != "", "AND person = ?", plain(f.Person)).
		andIf(f.Action != "", "AND action = ?", plain(f.Action)).
		andIf(f.Subject != "", "AND subject = ?", plain(f.Subject)).
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, func(row scan) (e Entry, err error) {
		var at int64
		var detail []byte
		err = row(&e.Number, &at, &e.Person, &e.Action, &e.Repository, &e.Subject, &e.Result, &detail)
		e.At, e.Detail = fromMicros(at), detail
		return e, err
	})
}
