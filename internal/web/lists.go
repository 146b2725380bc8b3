package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
)

// How many rows a page shows.
const (
	mostRows   = 100
	mostEnded  = 10
	mostActive = 500
)

// readable are the repositories that the person can read, in lower case and sorted. It is never nil.
func (a *asked) readable() ([]string, error) {
	names, err := ask(a.Access.Readable, a.soon, a.who)
	lower := append([]string{}, safetext.Map(names, strings.ToLower)...)
	slices.Sort(lower)
	return slices.Compact(lower), err
}

// filter asks for the rows that the person may see: of what they can read and, for operators, what belongs to no
// repository.
func (a *asked) filter() (store.Filter, error) {
	names, err := a.readable()
	if a.operator {
		names = slices.Insert(names, 0, "")
	}
	return store.Filter{Repositories: names, Limit: mostRows, Before: a.before()}, err
}

// before is the number of the row that the page before has ended with; 0 for the first page.
func (a *asked) before() int64 {
	n, _ := number(a.r.URL.Query().Get("before"))
	return n
}

// shows reports whether a filter selects rows of a repository. Every row is checked with it, so a list that returns too
// much reveals nothing.
func shows(f store.Filter, repository string) bool {
	_, ok := slices.BinarySearch(f.Repositories, strings.ToLower(repository))
	return ok
}

// held are the rows that f may show, at most its limit.
func held[T any](f store.Filter, rows []T, of func(T) string) []T {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return !shows(f, of(row)) })
	return rows[:min(len(rows), f.Limit)]
}

// runs are those that f asks for and may show.
func (a *asked) runs(f store.Filter) ([]Run, error) {
	rows, err := a.Lists.Runs(a.r.Context(), f)
	return safetext.Map(held(f, rows, func(r store.Run) string { return r.Repository }), shown), err
}

// group is some runs under a heading.
type group struct {
	Heading, Empty string
	Runs           []Run
}

// now shows what runs, is queued, waits, and has ended.
func (a *asked) now() error {
	names, err := a.readable()
	if err != nil {
		return err
	}
	active, err := a.runs(store.Filter{Repositories: names, States: Active, Limit: mostActive})
	if err != nil {
		return err
	}
	recent, err := a.runs(store.Filter{Repositories: names, Limit: mostRows})
	if err != nil {
		return err
	}
	groups := []group{{Running, "Nothing runs.", nil}, {Queued, "", nil}, {Waiting, "", nil}}
	for i, g := range groups {
		groups[i].Runs = slices.DeleteFunc(slices.Clone(active), func(r Run) bool { return r.State != g.Heading })
	}
	recent = slices.DeleteFunc(recent, func(r Run) bool { return r.Times.Ended.IsZero() || r.State == Waiting })
	return a.show("now", "Now", struct {
		Groups []group
		Empty  bool // nothing that the person can read has ralph
	}{append(groups, group{"ended", "", recent[:min(len(recent), mostEnded)]}), len(names) == 0})
}

func (a *asked) repositories() error {
	names, err := a.readable()
	if err != nil {
		return err
	}
	return a.show("repositories", "Repositories", struct{ Names []string }{names})
}

// repositoryPage shows one repository: its runs, and to who may read everything also how they went, what it is set to,
// and what the doctor says.
func (a *asked) repositoryPage() error {
	r, success := Repository{Name: a.repository}, -1
	f := store.Filter{Repositories: []string{strings.ToLower(a.repository)}, Limit: mostRows, Before: a.before()}
	runs, err := a.runs(f)
	if err != nil {
		return err
	}
	if a.may < MayRead {
		runs = safetext.Map(runs, Run.outside)
	} else if r, err = a.Repositories.Repository(a.r.Context(), a.repository); err != nil {
		return err
	}
	if r.Ended > 0 {
		success = r.Done * 100 / r.Ended
	}
	isSet := func(s Setting) bool { return s.From != "default" }
	defaults := slices.DeleteFunc(slices.Clone(r.Settings), isSet)
	set := slices.DeleteFunc(slices.Clone(r.Settings), func(s Setting) bool { return !isSet(s) })
	return a.show("repository", brief(100, r.Name), struct {
		Repository
		Outside       bool // of the repository: there are its runs and nothing else
		Runs          []Run
		Success       int // of a hundred; -1: nothing has ended
		URL           string
		More          int64
		Set, Defaults []Setting
	}{r, a.may < MayRead, runs, success, a.github(r.Name), more(f, runs, func(r Run) int64 { return r.Number }),
		set, defaults})
}

// more is the number before which the next page starts; 0 when this one is not full.
func more[T any](f store.Filter, rows []T, number func(T) int64) int64 {
	if len(rows) < f.Limit {
		return 0
	}
	return number(rows[len(rows)-1])
}

// rows are a page of a list that the person may see.
type rows[T any] struct {
	Rows  []T
	More  int64
	NoOwn bool // of deliveries: without ralph's own, ten a run
}

// deliveries are without ralph's own unless the address asks for them.
func (a *asked) deliveries() error {
	f, err := a.filter()
	if err != nil {
		return err
	}
	noOwn := a.r.URL.Query().Get("own") == ""
	if noOwn {
		f.NotBy = a.Repositories.Self()
	}
	list, err := a.Lists.Deliveries(a.r.Context(), f)
	if err != nil {
		return err
	}
	list = held(f, list, func(d store.Delivery) string { return d.Repository })
	return a.show("deliveries", "Deliveries",
		rows[store.Delivery]{list, more(f, list, func(d store.Delivery) int64 { return d.Number }), noOwn})
}

func (a *asked) deliveryPage() error {
	return a.show("delivery", "Delivery "+brief(60, a.delivery.ID), struct {
		store.Delivery
		Redeliver bool
	}{a.delivery, a.may >= MayWrite})
}

// deed is an entry of the audit log in words.
type deed struct {
	store.Entry
	Did, Detail   string
	Run, Delivery string // one that it was done to
}

// deeds are the actions of the audit log in words.
var deeds = map[string]string{
	"run.stop": "stopped the run", "run.retry": "resumed the run", "run.hint": "gave a hint",
	"run.approve": "accepted what was found", "delivery.redeliver": "had a delivery decided again",
	"session.begin": "signed in", "session.end": "signed out", "session.end everywhere": "signed out everywhere",
	"app.create": "created the App", "app.rotate secret": "gave the webhook a new secret",
}

func deedOf(e store.Entry) deed {
	d := deed{Entry: e, Did: cmp.Or(deeds[e.Action], strings.ReplaceAll(e.Action, ".", " "))}
	switch kind, _, _ := strings.Cut(e.Action, "."); kind {
	case "run":
		d.Run = e.Subject
	case "delivery":
		d.Delivery = e.Subject
	default:
		d.Detail = e.Subject
	}
	if e.Result != "done" {
		d.Did, d.Detail = "tried: "+d.Did, e.Result
	}
	return d
}

func (a *asked) audit() error {
	f, err := a.filter()
	if err != nil {
		return err
	}
	list, err := a.Lists.Audits(a.r.Context(), f)
	if err != nil {
		return err
	}
	list = held(f, list, func(e store.Entry) string { return e.Repository })
	return a.show("audit", "Audit",
		rows[deed]{Rows: safetext.Map(list, deedOf), More: more(f, list, func(e store.Entry) int64 { return e.Number })})
}
