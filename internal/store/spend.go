package store

import (
	"context"
)

// Spend is what models took, of one turn or summed up.
type Spend struct {
	Day          string // "2006-01-02" in UTC
	Installation int64  // of addSpend alone
	Repository   string // "owner/name"
	Person       string // the login of whoever asked
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

// addSpend adds to the sums of a day, installation, repository, person and model, once for each mark: a text that names
// the turn, such as "run/attempt/record". The day is today if it is not set; fresh is false where the mark is known.
func (s *Store) addSpend(t *transaction, mark string, p Spend) (fresh bool, err error) {
	now := s.clock()
	if p.Day == "" {
		p.Day = now.UTC().Format("2006-01-02")
	}
	n, err := t.exec("INSERT INTO ralph_spent (mark, at) VALUES (?, ?) ON CONFLICT (mark) DO NOTHING", mark,
		micros(now))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = t.exec(`INSERT INTO ralph_spend (day, installation, repository, person, model, turns, input, cacheread,
		cachewrite, output, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (day, installation, repository, person, model) DO UPDATE SET
		turns = ralph_spend.turns + excluded.turns, input = ralph_spend.input + excluded.input,
		cacheread = ralph_spend.cacheread + excluded.cacheread, cachewrite = ralph_spend.cachewrite + excluded.cachewrite,
		output = ralph_spend.output + excluded.output, cost = ralph_spend.cost + excluded.cost`,
		p.Day, p.Installation, p.Repository, p.Person, p.Model, p.Took.Turns, p.Took.Input,
		p.Took.CacheRead, p.Took.CacheWrite, p.Took.Output, p.Took.Cost)
	return true, err
}

// SpendFilter says which spend a page shows. Empty fields ask for nothing.
type SpendFilter struct {
	From         string   // the first day
	Repositories []string // nil for all; an empty list for none
	Limit        int      // at most 10,000, by default 100
}

// Spend are the sums by day, repository, person and model, the latest day first, then the highest cost.
func (s *Store) Spend(ctx context.Context, f SpendFilter) ([]Spend, error) {
	q := ask("reading what was spent", `SELECT day, repository, person, model, sum(turns), sum(input), sum(cacheread),
		sum(cachewrite), sum(output), sum(cost) FROM ralph_spend WHERE 1 = 1`).
		andIf(f.From != "", "AND day >= ?", f.From).
		in("repository", f.Repositories).
		and("GROUP BY day, repository, person, model ORDER BY day DESC, sum(cost) DESC LIMIT ?", several(f.Limit, 10_000))
	return list(ctx, s, q, func(row scan) (p Spend, err error) {
		err = row(&p.Day, &p.Repository, &p.Person, &p.Model, &p.Took.Turns, &p.Took.Input, &p.Took.CacheRead,
			&p.Took.CacheWrite, &p.Took.Output, &p.Took.Cost)
		return p, err
	})
}
