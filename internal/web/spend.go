package web

import (
	"cmp"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
)

// spendDays are the days that the page of what was spent adds up.
const spendDays = 30

// TookBy adds up what runs took, by a name of each. A run with several rows counts once, by its newest row, which must
// come first.
func TookBy(runs []Run, name func(Run) string) map[string]Took {
	counted, by := map[string]bool{}, map[string]Took{}
	for _, r := range runs {
		id := r.Repository + " " + cmp.Or(r.Journal, r.ID)
		if of := by[name(r)]; !counted[id] {
			by[name(r)] = Took{of.Runs + 1, of.Dollars + r.Dollars, of.Tokens + r.Tokens}
		}
		counted[id] = true
	}
	return by
}

// spentOn are the names that the page adds up by.
var spentOn = []func(Run) string{
	func(Run) string { return "all runs" },
	func(r Run) string { return r.Repository },
	func(r Run) string { return r.Person },
	func(r Run) string { return r.Agent },
	func(r Run) string { return r.Times.Created.UTC().Format(time.DateOnly) },
}

// spend shows what was spent in the last days, by what it was spent on.
func (a *asked) spend() error {
	names, err := a.readable()
	if err != nil {
		return err
	}
	runs, err := a.runs(store.Filter{Repositories: names, Since: a.Clock().AddDate(0, 0, -spendDays), Limit: 10_000})
	if err != nil {
		return err
	}
	return a.show("spend", "Spend", struct {
		Days   int
		Tables []map[string]Took
	}{spendDays, safetext.Map(spentOn, func(name func(Run) string) map[string]Took { return TookBy(runs, name) })})
}
