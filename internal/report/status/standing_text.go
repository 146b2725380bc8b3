package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Text is the standing for people at a terminal. What others wrote is on one line each, and not yet made harmless for a
// terminal.
func (st RunStatus) Text() string {
	if st.State == "none" {
		return st.Reason + "\n"
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name, text)
		}
	}
	line("task", "%s  %s", st.Task, wording.Brief(st.Title, 100))
	line("state", "%s", st.Line())
	line("warning", "%s", wording.Brief(st.Warning, 200))
	line("branch", "%s", wording.Brief(st.Branch, 120))
	line("kept on", "%s", wording.Brief(st.FailureBranch, 120))
	b.WriteString(st.storiesText() + st.checksText() + st.criteriaText() + st.verificationText())
	if st.Repeats != "" || st.Shifts > 0 {
		line("stuck", "%s %dx, %s", cmp.Or(wording.Brief(st.Repeats, 100), "the same failure"), st.StuckCount,
			safetext.Count(st.Shifts, "strategy shift"))
	}
	line("cost", "%s", st.cost)
	line("state file", "%s", st.StateFile)
	line("run", "%s", st.RunDir)
	line("next", "%s", st.Next)
	return b.String()
}

// Line is the standing in one line.
func (st RunStatus) Line() string {
	at := fmt.Sprintf("iteration %d", st.Iteration)
	if st.MaxIterations > 0 {
		at = fmt.Sprintf("iteration %d/%d", st.Iteration, st.MaxIterations)
	}
	switch {
	case st.State == "none":
		return st.Reason
	case st.Iteration == 0:
		at = "before the first iteration"
	}
	text := st.State + ": " + at
	if st.Doing != "" {
		text += ", " + st.Doing
	}
	if st.LockIsRun {
		text += fmt.Sprintf(" (process %d)", st.LockPID)
	}
	if !st.Until.IsZero() {
		text += ", until " + st.Until.Format("2006-01-02 15:04 UTC")
	}
	if st.Reason != "" {
		text += "; " + wording.Brief(st.Reason, 300)
	}
	return text
}

func (st RunStatus) checksText() string {
	var b strings.Builder
	for i, c := range st.Checks {
		name := ""
		if i == 0 {
			name = fmt.Sprintf("checks (%d)", st.Checked)
		}
		result := c.Result
		if c.Flaky {
			result += ", flaky"
		}
		fmt.Fprintf(&b, "%-11s %-8s %s\n", name, result,
			joined(wording.Brief(c.Check, 60), wording.Brief(c.Reason, 160), c.Hash))
	}
	return b.String()
}

func (st RunStatus) criteriaText() string {
	var b strings.Builder
	if st.Outcome != "" {
		fmt.Fprintf(&b, "%-11s %s\n", "outcome", wording.Brief(st.Outcome, 200))
	}
	for _, criterion := range st.Acceptance {
		fmt.Fprintf(&b, "%-11s - %s\n", "", wording.Brief(criterion, 200))
	}
	for _, r := range st.Roles {
		turns := safetext.Count(r.Iterations, "iteration")
		if r.MaxIterations > 0 {
			turns = fmt.Sprintf("%d/%d", r.Iterations, r.MaxIterations)
		}
		fmt.Fprintf(&b, "%-11s %s\n", r.Role, joined(turns, wording.Brief(r.Promise, 60), string(r.Method)))
	}
	return b.String()
}

// mostStories is how many stories a terminal shows; the JSON has all.
const mostStories = 12

// storiesText shows the stories that are not done and those at the cap, and counts the others.
func (st RunStatus) storiesText() string {
	if st.stories == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %s\n", "stories", st.stories)
	shown, more := 0, 0
	for _, one := range st.Stories {
		switch {
		case one.Done && !one.AtCap:
		case shown == mostStories:
			more++
		default:
			shown++
			id := wording.Brief(one.ID, 40)
			if one.AtCap {
				id = plan.AtCap + " " + id
			}
			reviews := ""
			if one.Reviews > 0 {
				reviews = fmt.Sprintf("review %d/%d", one.Reviews, st.ReviewCap)
			}
			fmt.Fprintf(&b, "%-11s - %s\n", "",
				joined(wording.JoinedBy(" ", id, wording.Brief(one.Title, 80)), wording.JoinedBy(", ", one.State, reviews),
					wording.Brief(strings.TrimPrefix(one.Feedback, plan.AtCap), 160)))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "%-11s - %d more\n", "", more)
	}
	return b.String()
}

// mostVerifications is how many results a terminal shows; the JSON has all.
const mostVerifications = 10

func (st RunStatus) verificationText() string {
	var b strings.Builder
	list := st.Verifications
	if hidden := len(list) - mostVerifications; hidden > 0 {
		fmt.Fprintf(&b, "%-11s %s not shown\n", "", safetext.Count(hidden, "earlier verification"))
		list = list[hidden:]
	}
	for _, r := range list {
		what := "no promise"
		switch {
		case r.Verified:
			what = "verified"
		case r.PromiseFound:
			what = "not verified"
		}
		fmt.Fprintf(&b, "%-11s %s\n", "",
			joined(fmt.Sprintf("%d %s %s", r.Iteration, r.Role, what), wording.Brief(r.Reason, 160), wording.Clock(r.Timestamp)))
	}
	if b.Len() > 0 {
		return "promises" + b.String()[len("promises"):]
	}
	return ""
}

// joined parts what is there by dashes.
func joined(parts ...string) string { return wording.JoinedBy(" — ", parts...) }
