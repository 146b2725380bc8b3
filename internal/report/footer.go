package report

import (
	"fmt"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func (v View) runLink() string {
	if l := wording.Link("workflow run", v.State.RunURL); l != "workflow run" {
		return l
	}
	return ""
}

// footer is the small print: who asked, where it runs, where more is to be read.
func (v View) footer() string {
	s := v.State
	parts := v.credits()
	add := func(what, text string) {
		if text != "" {
			parts = append(parts, what+text)
		}
	}
	add("branch ", v.branch(s.Branch()))
	if (s.End == nil || s.End.Outcome != loop.Done) && !v.here {
		add("pull request ", v.pull())
	}
	return wording.Small(slices.Concat(parts, v.reportLinks(), v.updated()))
}

// reportLinks says where the report in full is.
func (v View) reportLinks() []string {
	if l := wording.Link("full report: artifact of the workflow run", v.ReportURL); l[0] == '[' {
		return []string{l}
	}
	return nil
}

// credits name who asked, which agent worked and where.
func (v View) credits() (parts []string) {
	s := v.State
	if asked := v.Code(s.Start.Asked, 60); asked != "" {
		parts = append(parts, "asked by "+asked)
	}
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("retry %d", s.Retries))
	}
	if agent := v.Code(path.Base(s.Start.Agent), 60); agent != "" {
		parts = append(parts, "agent "+agent)
	}
	if run := v.runLink(); run != "" {
		parts = append(parts, run)
	}
	return parts
}

func (v View) updated() []string {
	if v.State.At.IsZero() {
		return nil
	}
	return []string{"updated " + wording.Clock(v.State.At)}
}

// mostGitNotes is how many iterations are told of.
const mostGitNotes = 5

// gitNotes says what agents did with git that is not simply in a commit, and where what they made is kept: a list, the
// newest iterations of many.
func (v View) gitNotes() string {
	var p wording.Markdown
	told, hidden := 0, 0
	for i := len(v.State.Iterations) - 1; i >= 0; i-- {
		it := v.State.Iterations[i]
		if it.Commit == nil || it.Commit.Note == "" {
			continue
		}
		if told++; told > mostGitNotes {
			hidden++
			continue
		}
		p.Line("- iteration %d: %s", it.N, v.Text(it.Commit.Note, 800))
	}
	if hidden > 0 {
		p.Line("- %s before those, in the report", safetext.Count(hidden, "iteration"))
	}
	return p.String()
}

// gitTitle is the heading of gitNotes.
const gitTitle = "What happened in git"
