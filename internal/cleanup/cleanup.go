// Package cleanup decides which leftovers of runs in a clone can be removed, and which must stay and why.
package cleanup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Run is what there is of a run.
type Run struct {
	Name   string // of its directory
	Task   string // empty: a run of a prompt
	Branch string // empty: it commits on none
	// Outcome is how it ended; empty: it did not, or its record cannot be read.
	Outcome string
	Over    bool // it has an outcome after which nothing continues by itself
	Broken  bool // its record cannot be read
	Plan    bool // it is of a plan that no one has archived
	Extra   bool // its directory holds more than the record
}

// Branch is a branch that a run has made, or a ref that a run has kept work under.
type Branch struct {
	Name  string // "ralph/issue-42"; a ref by its full name
	Task  string // whose run has made it; empty: no one knows
	Alone int    // its commits that are nowhere else
	Used  string // where it is checked out; empty: nowhere
}

// Item is one thing in a listing.
type Item struct {
	Name   string
	Reason string // why it stays, or what goes with it; empty: there is nothing to say
}

// Plan is what is removed and what stays.
type Plan struct {
	Branches []Item // removed
	Runs     []Item // removed, record and all
	Trimmed  []string
	Kept     []Item
	// Busy says that a run is to continue, so that what it told agents stays.
	Busy bool
}

// Decide says what goes. drop names branches that go although they hold commits that are nowhere else; "all" is every
// one. runs are in order, the newest last. A name in drop that is no branch of these is an error.
func Decide(runs []Run, branches []Branch, drop []string) (p Plan, err error) {
	for _, name := range drop {
		if name != "all" && !slices.ContainsFunc(branches, func(b Branch) bool { return b.Name == name }) {
			return p, fmt.Errorf("--drop %s: no run has made a branch of that name here; ralph clean --dry-run lists those "+
				"there are", name)
		}
	}
	kept, dropped := map[string]string{}, map[string]bool{} // by branch
	newest := map[string]int{}
	for i, r := range runs {
		newest[r.Task] = i
	}
	held := map[string]string{} // tasks whose branches stay, and why
	for i, r := range runs {
		why := ""
		switch {
		case r.Plan:
			why = "its plan is not archived; ralph plan archive does that"
		case r.Task == "" || newest[r.Task] != i:
		case r.Broken:
			why = "the record of its run cannot be read"
		case !r.Over:
			why = "its run can resume"
		}
		if why != "" && r.Branch != "" {
			held[r.Task], kept[r.Branch] = why, why
		}
	}
	for _, b := range branches {
		why := ""
		switch {
		case b.Used != "":
			why = "it is checked out in " + b.Used
		case kept[b.Name] != "":
			why = kept[b.Name]
		case b.Alone > 0 && !slices.Contains(drop, b.Name) && !slices.Contains(drop, "all"):
			why = fmt.Sprintf("%s nowhere else; --drop %s removes it",
				safetext.Counted(b.Alone, "commit that is", "commits that are"), b.Name)
		}
		switch {
		case why != "":
			kept[b.Name] = why
			p.Kept = append(p.Kept, Item{b.Name, why})
		case b.Alone > 0:
			dropped[b.Name] = true
			p.Branches = append(p.Branches,
				Item{b.Name, "with " + safetext.Counted(b.Alone, "commit that is", "commits that are") + " nowhere else"})
		default:
			p.Branches = append(p.Branches, Item{Name: b.Name})
		}
	}
	for i, r := range runs {
		p.run(r, newest[r.Task] == i, held[r.Task], kept[r.Branch] != "" && r.Branch != "", dropped[r.Branch])
	}
	return p, nil
}

// run decides on the record of a run: the newest of a task stays as long as it says of a branch that exists what it
// is, or of a task that it is done.
func (p *Plan) run(r Run, newest bool, held string, branch, dropped bool) {
	unfinished := !r.Over && !r.Broken
	switch {
	case r.Plan || newest && held != "" && r.Task != "" || r.Task == "" && !r.Over:
		p.Busy = p.Busy || unfinished || r.Plan
		why := held
		switch {
		case why != "":
		case r.Broken:
			why = "its record cannot be read"
		default:
			why = "it did not finish"
		}
		p.Kept = append(p.Kept, Item{"run " + r.Name, why})
	case newest && r.Task != "" && (branch || r.Outcome == "done" && !dropped):
		if r.Extra {
			p.Trimmed = append(p.Trimmed, r.Name)
		}
	default:
		p.Runs = append(p.Runs, Item{r.Name, strings.TrimSpace(r.Task + " " + r.Outcome)})
	}
}
