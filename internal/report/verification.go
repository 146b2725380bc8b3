package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Verified is what happened to one promise.
type Verified struct {
	Iteration    int       `json:"iteration"`
	Role         task.Role `json:"role"`
	PromiseFound bool      `json:"promise_found"`
	Verified     bool      `json:"verified"`
	Reason       string    `json:"reason"`
	Timestamp    time.Time `json:"timestamp"`
}

// Verifications lists what happened to the promises of the whole run, oldest first. A role whose turn has yet to come has
// made none.
func Verifications(s loop.State) (list []Verified) {
	for i, it := range s.Iterations {
		if wrong, ok := unfitting(s, it); ok {
			list = append(list, wrong)
		}
		for _, c := range it.Verdicts {
			if !c.Verification || c.Later {
				continue
			}
			by := c.Role
			if by == "" {
				by = it.Role
			}
			reason := cmp.Or(c.Skipped, c.Reason)
			list = append(list, Verified{
				Iteration: it.N, Role: by, PromiseFound: promised(s.Iterations[:i+1], by, reason),
				Verified: c.Pass && c.Skipped == "",
				Reason:   reason, Timestamp: it.At.Add(it.Took).UTC(),
			})
		}
	}
	return list
}

// unfitting is a promise that is not the one which the role's criteria ask for; ok is false when an iteration has none.
func unfitting(s loop.State, it *loop.Iteration) (Verified, bool) {
	if it.Turn.Claim.Tag != "promise" || it.Turn.Claim.Done || s.Start.Completion.For(it.Role) == nil {
		return Verified{}, false
	}
	for _, c := range it.Verdicts {
		if c.Check == loop.ClaimCheck && c.Skipped == "" && !c.Pass {
			return Verified{Iteration: it.N, Role: it.Role, PromiseFound: true, Reason: c.Reason,
				Timestamp: it.At.Add(it.Took).UTC()}, true
		}
	}
	return Verified{}, false
}

// noPromise is how a check says that there was none.
const noPromise = "No completion promise found"

// promised reports whether a role has made its promise: in its newest turn, or, of a role that takes none, unless the
// check says no.
func promised(its []*loop.Iteration, by task.Role, reason string) bool {
	if by.ReadOnly() {
		return !strings.Contains(reason, noPromise)
	}
	for _, it := range slices.Backward(its) {
		if it.Role == by {
			return it.Turn.Claim.Done
		}
	}
	return false
}

// verification is the table of the newest verification results.
func (v View) verification(most int) string {
	list := Verifications(v.State)
	if len(list) == 0 || most == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| # | role | promise | verified | reason |\n|--:|---|---|---|---|\n")
	if hidden := len(list) - most; hidden > 0 {
		b.WriteString(wording.Row("…", "", "", fmt.Sprintf("%s not shown", safetext.Count(hidden, "earlier result")), ""))
		list = list[hidden:]
	}
	for _, r := range list {
		b.WriteString(wording.Row(fmt.Sprint(r.Iteration), v.role(r.Role), wording.Yes(r.PromiseFound),
			wording.Yes(r.Verified),
			v.Text(r.Reason, 200)))
	}
	return b.String()
}
