package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func runLink(s loop.State) string {
	if l := wording.Link("workflow run", s.RunURL); l != "workflow run" {
		return l
	}
	return ""
}

// footer is the small print: the requester, the agent, where it runs, and where to read more.
func (v View) footer() string {
	s := v.State
	var parts []string
	add := func(what, text string) {
		if text != "" {
			parts = append(parts, what+text)
		}
	}
	add("asked by ", v.Code(s.Start.Asked, 60))
	if s.Retries > 0 {
		add("retry ", fmt.Sprint(s.Retries))
	}
	add("agent ", v.Code(path.Base(s.Start.Agent), 60))
	add("", runLink(v.State))
	add("branch ", v.branch(s.Branch()))
	if (s.End == nil || s.End.Outcome != loop.Done) && !v.here {
		add("pull request ", v.pull())
	}
	if l := wording.Link("full report: artifact of the workflow run", v.ReportURL); l[0] == '[' {
		add("", l)
	}
	if !s.At.IsZero() {
		add("updated ", wording.Clock(s.At))
	}
	return wording.Small(parts)
}

// gitNotes says what agents did with git that is not simply in a commit, and where what they made is kept: a list, the
// newest iterations first.
func (w Words) gitNotes(s loop.State) string {
	var notes []string
	for _, it := range slices.Backward(s.Iterations) {
		if it.Commit != nil && it.Commit.Note != "" {
			notes = append(notes, fmt.Sprintf("iteration %d: %s", it.N, w.Text(it.Commit.Note, 800)))
		}
	}
	return items(notes, mostNames)
}

// gitTitle is the heading of gitNotes.
const gitTitle = "What happened in git"

// cost says what the run has spent, what its issue has cost in all, and what they may; "" when nothing is known and
// nothing limited.
func (v View) cost() string {
	s, l := v.State, v.Limits
	name, where, all, limits := "Cost", " on this issue in all", "", []string{}
	if s.End == nil {
		name = "Cost so far"
	}
	if s.Start.Issue == 0 {
		where = " in all"
	}
	if on := s.OnIssue(); on != s.Spent() {
		all = cmp.Or(wording.UsageText(on), "nothing") + where
	}
	if l.CostUSD > 0 {
		limits = append(limits, wording.Dollars(l.CostUSD))
	}
	if l.Tokens > 0 {
		limits = append(limits, wording.Tokens(l.Tokens)+" tokens")
	}
	if l.IssueCostUSD > 0 {
		limits = append(limits, wording.Dollars(l.IssueCostUSD)+where)
	}
	text := wording.JoinedBy("; ", wording.UsageText(s.Spent()), all)
	if text == "" && len(limits) > 0 {
		text = "nothing"
	}
	return labeled(name, wording.JoinedBy("; limit: ", text, safetext.And(limits)))
}
