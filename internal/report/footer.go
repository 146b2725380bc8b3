package report

import (
	"fmt"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
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
	return wording.Items(notes, mostNames)
}

// gitTitle is the heading of gitNotes.
const gitTitle = "What happened in git"

// cost says what the run has spent, of how much where that is limited, and what its issue has cost in all; ""
// when nothing is known and nothing limited.
func (v View) cost() string {
	s, l := v.State, v.Limits
	spent := s.Spent()
	text := wording.UsageText(spent)
	if l.CostUSD > 0 || l.Tokens > 0 {
		money, tokens := "", ""
		if money = wording.Dollars(spent.CostUSD); l.CostUSD > 0 {
			money += " of at most " + wording.Dollars(l.CostUSD)
		} else if spent.CostUSD == 0 {
			money = ""
		}
		if l.Tokens > 0 {
			tokens = fmt.Sprintf("%s of at most %s tokens", wording.Tokens(spent.Tokens()), wording.Tokens(l.Tokens))
		} else if spent.Tokens() > 0 {
			tokens = wording.Tokens(spent.Tokens()) + " tokens"
		}
		text = wording.JoinedBy(" · ", money, tokens)
	}
	if text == "" && s.OnIssue() == (loop.Usage{}) {
		return ""
	}
	name := "**Cost:** "
	if s.End == nil {
		name = "**Cost so far:** "
	}
	return name + wording.JoinedBy("; ", text, onIssue(s, l))
}
