package loop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

// Iteration is one step of a run: turn, commit, verdicts.
type Iteration struct {
	N        int
	Mode     Mode
	Role     task.Role // who took the turn
	Story    string    // of a plan: the story that it was for
	Tier     Tier      // how far the run had been escalated for it
	At       time.Time // when the turn began
	Turn     Turn
	Commit   *Commit
	Judged   bool
	Verdicts []Verdict
	Took     time.Duration // from the turn's beginning to the last verdict
	before   *plan.Story   // of a plan: the iteration's story as it was before
	Since    string        // the commit that it began at, also where its turn was taken again
	unable   bool          // the agent did nothing in its turn
}

// Shifted reports whether the prompt of the turn asked for another approach.
func (it Iteration) Shifted() bool { return it.Tier == Shift || it.Tier == Expand }

// Window is how many iterations keep their outputs.
const Window = 3

// Failure is the verdict that an iteration failed by, nil when nothing blocked: what is in the way of the work, or a
// missing claim.
func (it Iteration) Failure() *Verdict {
	if o := it.Obstacle(); o != nil {
		return o
	}
	return it.blocked(func(string) bool { return true })
}

// blocked is the first verdict that blocked of the checks that match; what fails on the base commit as well comes last.
func (it Iteration) blocked(match func(check string) bool) (first *Verdict) {
	for _, v := range it.blocking() {
		switch {
		case !match(v.Check):
		case !v.OfBase():
			return v
		case first == nil:
			first = v
		}
	}
	return first
}

// blocking are the verdicts that blocked, in their order.
func (it Iteration) blocking() (all []*Verdict) {
	for i := range it.Verdicts {
		if v := &it.Verdicts[i]; v.Skipped == "" && v.Blocks() {
			all = append(all, v)
		}
	}
	return all
}

// unanswered is the verdict of a hard check that something outside has yet to answer, when nothing else is in the way;
// otherwise nil.
func (it Iteration) unanswered() *Verdict {
	all := it.blocking()
	if len(all) == 0 || slices.ContainsFunc(all, func(v *Verdict) bool { return !v.Waits }) {
		return nil
	}
	return all[0]
}

// Unfixable is the first verdict that blocked and that no change to the code makes pass; nil without one.
func (it Iteration) Unfixable() *Verdict {
	for _, v := range it.blocking() {
		if v.Unfixable {
			return v
		}
	}
	return nil
}

// Obstacle is what is in the way of the work itself: the first check that blocked, or the turn's own end when every
// check passed. The prompt asks the agent to end with a failure while tests fail, so its end says less than they do. A
// missing claim is not an obstacle.
func (it Iteration) Obstacle() *Verdict {
	if v := it.blocked(func(check string) bool { return check != ClaimCheck && check != AgentCheck }); v != nil {
		return v
	}
	return it.blocked(func(check string) bool { return check == AgentCheck })
}

// Claimed reports whether the agent says that it has done its part: by a sign in its text, or in a plan by handing its
// story on.
func (it Iteration) Claimed() bool {
	switch {
	case it.NothingToDo():
		return true
	case it.Commit != nil && it.Commit.Plan != nil:
		return it.Commit.Plan.Handed
	}
	return it.Turn.Claim.Done
}

// NothingToDo reports whether the agent says that nothing needs doing, of a run that has changed nothing.
func (it Iteration) NothingToDo() bool {
	_, says := it.Turn.Claim.Nothing()
	return says && it.Commit != nil && it.Commit.NoDiff
}

// helpless returns the words of a turn in which the agent did nothing: nothing was spent, no tool ran, nothing changed
// and nothing is claimed. An agent that does not report what it does may have said a few words. Empty: it did
// something.
func (it Iteration) helpless() string {
	t, c := it.Turn, it.Commit
	unchanged := c.Empty || c.Unchecked && t.Reports
	words := strings.TrimSpace(cmp.Or(t.Text, t.Reason))
	switch {
	case !unchanged, t.Claim != Claim{}, t.Usage != Usage{}, t.Tools > 0:
		return ""
	case t.Class == Empty && t.Reports, t.Class == CutShort && t.Reports:
		return cmp.Or(words, "nothing")
	case t.Class != OK && t.Class != Broke, !t.Reports && strings.Count(words, "\n") >= FewLines:
		return ""
	}
	return words
}

// FewLines is how many lines an agent prints at most that cannot work.
const FewLines = 5

// Passed reports whether the role that took the turn has done its part: the agent claims it, and every hard check
// passed on the committed tree but those that another role has to work for first.
func (it Iteration) Passed() bool {
	if !it.Judged || it.Commit == nil || !it.Claimed() || len(it.Verdicts) == 0 {
		return false
	}
	return !slices.ContainsFunc(it.Verdicts, func(v Verdict) bool {
		counts := v.Severity != Soft && (v.Skipped == "" || !v.Later)
		return counts && (v.Skipped != "" || !v.Pass || v.Tree != it.Commit.Tree)
	})
}

// Done reports whether the iteration ends the run well: the agent claims it, something changed, every hard check
// passed, none was skipped, and all of them spoke of the committed tree.
func (it Iteration) Done() bool {
	skipped := func(v Verdict) bool { return v.Skipped != "" && v.Severity == Hard }
	return it.Passed() && !slices.ContainsFunc(it.Verdicts, skipped)
}

// hopeless reports whether the turn ended for a reason that ends the run. An agent that could not run a program ends it
// only if it had done nothing: no change, or where no one looks for changes, not a word.
func (it Iteration) hopeless() bool {
	nothing := it.Commit.Empty || it.Commit.Unchecked && it.Turn.Text == ""
	return it.Turn.Class.Fatal() && (it.Turn.Class != Missing || nothing)
}

func withoutDetails(concerns []Concern) []Concern {
	if len(concerns) == 0 {
		return nil
	}
	return []Concern{{Name: concerns[0].Name, Kind: concerns[0].Kind}}
}

func (it Iteration) withoutOutputs() *Iteration {
	verdicts := append([]Verdict(nil), it.Verdicts...)
	for i := range verdicts {
		verdicts[i].Output, verdicts[i].PromptText, verdicts[i].Findings = "", "", nil
		verdicts[i].Concerns = withoutDetails(verdicts[i].Concerns)
	}
	it.Verdicts = verdicts
	it.Turn.Text = ""
	return &it
}
