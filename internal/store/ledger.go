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

// Spend is what models took, of one turn or summed up.
type Spend struct {
	Day          string // "2006-01-02" in UTC
	Installation int64  // of one turn
	Repository   string // "owner/name"
	Person       string // the login of the requester
	Model        string
	Took         Took
}

// Took are sums: turns of an agent, tokens, and millionths of a dollar.
type Took struct {
	Turns      int64
	Input      int64
	CacheRead  int64
	CacheWrite int64
	Output     int64
	Cost       int64
}

// Add adds another sum.
func (t *Took) Add(o Took) {
	*t = Took{t.Turns + o.Turns, t.Input + o.Input, t.CacheRead + o.CacheRead, t.CacheWrite + o.CacheWrite,
		t.Output + o.Output, t.Cost + o.Cost}
}

// Dollars is the cost in dollars.
func (t Took) Dollars() float64 { return float64(t.Cost) / 1e6 }

// Tokens are all of them.
func (t Took) Tokens() int64 { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// addSpend adds to the sums of a day, installation, repository, person and model, once for each mark: a text that names
// the turn, such as "run/attempt/record". The day is today if it is not set; fresh is false where the mark is known.
func (s *Store) addSpend(t *transaction, mark string, p Spend) (fresh bool, err error) {
	now := s.clock()
	if p.Day == "" {
		p.Day = now.UTC().Format(time.DateOnly)
	}
	n, err := t.exec("INSERT INTO ralph_spent VALUES (?, ?) ON CONFLICT (mark) DO NOTHING", mark, now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.insert("ralph_spend", &p, ` ON CONFLICT (day, installation, repository, person, model) DO UPDATE SET
		turns = turns + excluded.turns, input = input + excluded.input, cacheread = cacheread + excluded.cacheread,
		cachewrite = cachewrite + excluded.cachewrite, output = output + excluded.output, cost = cost + excluded.cost`)
}

// Spend are the sums by day, repository, person and model, the latest day first, then the highest cost.
func (s *Store) Spend(ctx context.Context, f Filter) ([]Spend, error) {
	query, args := f.and(`SELECT day, 0, repository, person, model, sum(turns), sum(input), sum(cacheread),
		sum(cachewrite), sum(output), sum(cost) FROM ralph_spend WHERE 1 = 1`, "day >= ?", f.Since.UTC().Format(time.DateOnly))
	return list[Spend](ctx, s, "reading what was spent", query+" GROUP BY day, repository, person, model "+
		"ORDER BY day DESC, sum(cost) DESC LIMIT ?", append(args, limited(f.Limit, 10_000))...)
}
