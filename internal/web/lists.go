package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// How many rows a page shows.
const (
	mostRows   = 100
	mostEnded  = 10
	mostActive = 500
	spendDays  = 30
)

// query asks for the rows that the person may see.
func (a *asked) query(ctx context.Context) Query {
	return Query{Repositories: a.access.readable(ctx, a.who), Others: a.operator, Limit: mostRows,
		Before: brief(100, a.r.URL.Query().Get("before"))}
}

// shows reports whether a row of a repository is one that was asked for. It is asked again of every row that came: a
// Source that answers with too much tells nobody.
func (q Query) shows(repository string) bool {
	if repository == "" {
		return q.Others
	}
	_, ok := slices.BinarySearch(q.Repositories, strings.ToLower(repository))
	return ok
}

// held are the rows that q may show, at most its limit.
func held[T any](q Query, rows []T, of func(T) string) []T {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return !q.shows(of(row)) })
	return rows[:min(len(rows), q.Limit)]
}

func runRepository(r Run) string { return r.Repository }

// group is some runs under a heading.
type group struct {
	Heading, Empty string
	Runs           []Run
}

// now shows what runs, is queued, waits, and has ended.
func (a *asked) now() error {
	ctx := a.r.Context()
	q := a.query(ctx)
	q.Limit, q.Before, q.Others = mostActive, "", false
	active, err := a.Source.Runs.Active(ctx, q)
	if err != nil {
		return err
	}
	active = held(q, active, runRepository)
	q.Limit = mostEnded
	recent, err := a.Source.Runs.Runs(ctx, Query{Repositories: q.Repositories, Limit: mostRows})
	if err != nil {
		return err
	}
	recent = slices.DeleteFunc(recent, func(r Run) bool { return r.Ended.IsZero() || r.State == Waiting })
	of := func(state string) (list []Run) {
		for _, r := range active {
			if r.State == state {
				list = append(list, r)
			}
		}
		return list
	}
	elsewhere, err := a.unnamed(q)
	if err != nil {
		return err
	}
	return a.show("now", "Now", struct {
		Groups    []group
		Elsewhere []unnamed
		Empty     bool // nothing that the person can read has ralph
	}{[]group{
		{"Running", "Nothing runs.", of(Running)},
		{"Queued", "", of(Queued)},
		{"Waiting", "", of(Waiting)},
		{"Ended", "", held(q, recent, runRepository)},
	}, elsewhere, len(q.Repositories) == 0})
}

// unnamed is a run of which an operator learns that it is there, and nothing else.
type unnamed struct {
	State string
	Since time.Time
	Until time.Time // of waiting; zero: when somebody answers
}

// unnamed are the runs of repositories that an operator cannot read, the longest first; nobody else's business.
func (a *asked) unnamed(q Query) (list []unnamed, err error) {
	if !a.operator {
		return nil, nil
	}
	all, err := a.Source.Runs.Active(a.r.Context(), Query{All: true, Limit: mostActive})
	for _, r := range all {
		if q.shows(r.Repository) {
			continue
		}
		since := r.Began
		if since.IsZero() {
			since = r.Queued
		}
		list = append(list, unnamed{State: r.State, Since: since, Until: r.Until})
	}
	slices.SortStableFunc(list, func(x, y unnamed) int { return x.Since.Compare(y.Since) })
	return list[:min(len(list), mostRows)], err
}

func (a *asked) repositories() error {
	return a.show("repositories", "Repositories", struct{ Names []string }{a.access.readable(a.r.Context(), a.who)})
}

// repositoryPage shows one repository: how its runs went, what it is set to, and what the doctor says.
func (a *asked) repositoryPage() error {
	ctx := a.r.Context()
	r, err := a.Source.Repositories.Repository(ctx, a.repository)
	if err != nil {
		return err
	}
	q := Query{Repositories: []string{strings.ToLower(a.repository)}, Limit: mostRows,
		Before: brief(100, a.r.URL.Query().Get("before"))}
	runs, err := a.Source.Runs.Runs(ctx, q)
	if err != nil {
		return err
	}
	success := -1
	if r.Ended > 0 {
		success = r.Done * 100 / r.Ended
	}
	runs = held(q, runs, runRepository)
	set, defaults := bySetter(r.Settings)
	return a.show("repository", brief(100, r.Name), struct {
		Repository
		Runs          []Run
		Success       int // of a hundred; -1: nothing has ended
		URL           string
		More          string
		Set, Defaults []Setting
	}{r, runs, success, a.github(splitName(r.Name)...), more(q, runs, func(r Run) string { return r.ID }), set, defaults})
}

// bySetter are the settings that somebody has set, and those that nobody has.
func bySetter(all []Setting) (set, defaults []Setting) {
	for _, s := range all {
		if s.From == "default" {
			defaults = append(defaults, s)
		} else {
			set = append(set, s)
		}
	}
	return set, defaults
}

func splitName(name string) []string {
	owner, rest, _ := strings.Cut(name, "/")
	return []string{"", owner, rest}[1:]
}

// more is the ID to go on before, when a page is full.
func more[T any](q Query, rows []T, id func(T) string) string {
	if len(rows) < q.Limit {
		return ""
	}
	return id(rows[len(rows)-1])
}

func (a *asked) deliveries() error {
	ctx := a.r.Context()
	q := a.query(ctx)
	rows, err := a.Source.Deliveries.Deliveries(ctx, q)
	if err != nil {
		return err
	}
	rows = held(q, rows, func(d Delivery) string { return d.Repository })
	return a.show("deliveries", "Deliveries", struct {
		Rows []Delivery
		More string
	}{rows, more(q, rows, func(d Delivery) string { return d.ID })})
}

func (a *asked) deliveryPage() error {
	return a.show("delivery", "Delivery "+brief(60, a.delivery.ID), struct {
		Delivery
		Redeliver bool
	}{a.delivery, a.may >= MayWrite && a.Actions != nil && !a.who.Guest})
}

func (a *asked) audit() error {
	ctx := a.r.Context()
	q := a.query(ctx)
	rows, err := a.Source.Ledger.Audit(ctx, q)
	if err != nil {
		return err
	}
	rows = held(q, rows, func(e Audit) string { return e.Repository })
	return a.show("audit", "Audit", struct {
		Rows []Audit
		More string
	}{rows, more(q, rows, func(e Audit) string { return e.ID })})
}

// sum is what was spent on one thing.
type sum struct {
	Name, Path string
	Requests   int
	Amount
	Share int // of the largest, in thousandths
}

// spend shows what was spent in the last thirty days, by what it was spent on.
func (a *asked) spend() error {
	ctx := a.r.Context()
	q := a.query(ctx)
	q.Since, q.Limit, q.Before = a.Clock().Add(-spendDays*24*time.Hour), 100_000, ""
	rows, err := a.Source.Ledger.Spend(ctx, q)
	if err != nil {
		return err
	}
	rows = held(q, rows, func(row Spend) string { return row.Repository })
	by := func(name func(Spend) string) []sum { return sums(rows, name) }
	total := by(func(Spend) string { return "total" })
	days := by(func(row Spend) string { return row.Day })
	slices.SortFunc(days, func(x, y sum) int { return strings.Compare(y.Name, x.Name) })
	repositories := by(func(row Spend) string { return row.Repository })
	for i, r := range repositories {
		if strings.Contains(r.Name, "/") {
			repositories[i].Path = "/repositories/" + r.Name
		}
	}
	limits, err := a.limits(q)
	if err != nil {
		return err
	}
	type table struct {
		Heading, Of string
		Rows        []sum
	}
	return a.show("spend", "Spend", struct {
		Days   int
		Total  []sum
		Limits []Limit
		Tables []table
	}{spendDays, total, limits, []table{{"By repository", "repository", repositories},
		{"By person", "person", by(func(row Spend) string { return row.Person })},
		{"By model", "model", by(func(row Spend) string { return row.Model })},
		{"By day", "day", days}}})
}

// limits are those of the repositories that q is about, and of whose they are.
func (a *asked) limits(q Query) ([]Limit, error) {
	all, err := a.Source.Ledger.Limits(a.r.Context(), q)
	return slices.DeleteFunc(slices.Clone(all), func(l Limit) bool {
		if strings.Contains(l.Of, "/") {
			return !q.shows(l.Of)
		}
		return !slices.ContainsFunc(q.Repositories, func(name string) bool {
			return strings.HasPrefix(name, strings.ToLower(l.Of)+"/")
		})
	}), err
}

// sums adds rows up by a name, the largest first.
func sums(rows []Spend, name func(Spend) string) []sum {
	at := map[string]int{}
	var list []sum
	largest := 0.0
	for _, row := range rows {
		n := cmp.Or(name(row), "–")
		i, ok := at[n]
		if !ok {
			i = len(list)
			at[n] = i
			list = append(list, sum{Name: n})
		}
		list[i].Requests += row.Requests
		list[i].Dollars += row.Dollars
		list[i].Tokens += row.Tokens
		largest = max(largest, list[i].Dollars)
	}
	for i := range list {
		if largest > 0 {
			list[i].Share = int(list[i].Dollars / largest * 1000)
		}
	}
	slices.SortStableFunc(list, func(x, y sum) int { return cmp.Compare(y.Dollars, x.Dollars) })
	return list[:min(len(list), mostRows)]
}
