package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// How many rows a page shows.
const (
	mostRows   = 100
	mostEnded  = 10
	mostActive = 500
	spendDays  = 30
)

// query asks for the rows that the person may see.
func (a *asked) query() (Query, error) {
	names, err := ask(a.Access.Readable, a.soon, a.who)
	lower := safetext.Map(names, strings.ToLower)
	slices.Sort(lower)
	return Query{Repositories: slices.Compact(lower), Others: a.operator, Limit: mostRows, Before: a.before()}, err
}

// before is the number of the row that the page before has ended with; 0 for the first page.
func (a *asked) before() int64 {
	n, _ := number(a.r.URL.Query().Get("before"))
	return n
}

// shows reports whether a row of a repository is one that was asked for. It is asked again of every row that came: a
// Source that answers with too much tells no one.
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
	q, err := a.query()
	if err != nil {
		return err
	}
	q.Limit, q.Before, q.Others, q.Active = mostActive, 0, false, true
	active, err := a.Source.Runs.Runs(ctx, q)
	if err != nil {
		return err
	}
	active = held(q, active, runRepository)
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
	q.Limit = mostEnded
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
	Until time.Time // of waiting; zero: when someone answers
}

// unnamed are the runs of repositories that an operator cannot read, the longest first; no one else's business.
func (a *asked) unnamed(q Query) (list []unnamed, err error) {
	if !a.operator {
		return nil, nil
	}
	all, err := a.Source.Runs.Runs(a.r.Context(), Query{All: true, Active: true, Limit: mostActive})
	for _, r := range all {
		if q.shows(r.Repository) {
			continue
		}
		since := cmp.Or(r.Began, r.Queued)
		list = append(list, unnamed{State: r.State, Since: since, Until: r.Until})
	}
	slices.SortStableFunc(list, func(x, y unnamed) int { return x.Since.Compare(y.Since) })
	return list[:min(len(list), mostRows)], err
}

func (a *asked) repositories() error {
	q, err := a.query()
	if err != nil {
		return err
	}
	return a.show("repositories", "Repositories", struct{ Names []string }{q.Repositories})
}

// repositoryPage shows one repository: its runs, and to who may read everything also how they went, what it is set to,
// and what the doctor says.
func (a *asked) repositoryPage() error {
	ctx := a.r.Context()
	r, success := Repository{Name: a.repository}, -1
	q := Query{Repositories: []string{strings.ToLower(a.repository)}, Limit: mostRows, Before: a.before()}
	runs, err := a.Source.Runs.Runs(ctx, q)
	if err != nil {
		return err
	}
	runs = held(q, runs, runRepository)
	if a.may < MayRead {
		for i, run := range runs {
			runs[i] = run.outside()
		}
	} else if r, err = a.Source.Repositories.Repository(ctx, a.repository); err != nil {
		return err
	}
	if r.Ended > 0 {
		success = r.Done * 100 / r.Ended
	}
	set, defaults := bySetter(r.Settings)
	return a.show("repository", brief(100, r.Name), struct {
		Repository
		Outside       bool // of the repository: there are its runs and nothing else
		Runs          []Run
		Success       int // of a hundred; -1: nothing has ended
		URL           string
		More          int64
		Set, Defaults []Setting
	}{r, a.may < MayRead, runs, success, a.github(splitName(r.Name)...), more(q, runs, func(r Run) int64 { return r.Number }),
		set, defaults})
}

// bySetter are the settings that someone has set, and those that no one has.
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

func splitName(name string) []string { return strings.SplitN(name, "/", 2) }

// more is the number before which the next page starts; 0 when this one is not full.
func more[T any](q Query, rows []T, number func(T) int64) int64 {
	if len(rows) < q.Limit {
		return 0
	}
	return number(rows[len(rows)-1])
}

// rows shows a page of a list that the person may see, the newest first.
func rows[T any](a *asked, q Query, title string, read func(context.Context, Query) ([]T, error), of func(T) string, number func(T) int64) error {
	list, err := read(a.r.Context(), q)
	if err != nil {
		return err
	}
	list = held(q, list, of)
	return a.show(strings.ToLower(title), title, struct {
		Rows  []T
		More  int64
		NoOwn bool
	}{list, more(q, list, number), q.NoOwn})
}

// deliveries are without ralph's own, ten a run, unless the address asks for them.
func (a *asked) deliveries() error {
	q, err := a.query()
	if err != nil {
		return err
	}
	q.NoOwn = a.r.URL.Query().Get("own") == ""
	return rows(a, q, "Deliveries", a.Source.Deliveries.Deliveries, func(d Delivery) string { return d.Repository },
		func(d Delivery) int64 { return d.Number })
}

func (a *asked) audit() error {
	q, err := a.query()
	if err != nil {
		return err
	}
	return rows(a, q, "Audit", a.Source.Ledger.Audit, func(e Audit) string { return e.Repository },
		func(e Audit) int64 { return e.Number })
}

func (a *asked) deliveryPage() error {
	return a.show("delivery", "Delivery "+brief(60, a.delivery.ID), struct {
		Delivery
		Redeliver bool
	}{a.delivery, a.may >= MayWrite && !a.who.Guest})
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
	q, err := a.query()
	if err != nil {
		return err
	}
	q.Since, q.Limit, q.Before = a.Clock().Add(-spendDays*24*time.Hour), 100_000, 0
	rows, err := a.Source.Ledger.Spend(a.r.Context(), q)
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
