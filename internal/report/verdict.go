package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// mostCriteria is how many acceptance criteria a report shows a verdict on.
const mostCriteria = 50

// reviewed is the newest verdict of a reviewer, with what it says of each acceptance criterion.
func (v View) reviewed(r room) string {
	it, c := v.newestReview()
	if c == nil {
		return ""
	}
	word := "❌ asks for changes"
	if c.Pass {
		word = "✅ approves"
	}
	var p wording.Markdown
	p.Part(wording.JoinedBy(": ", fmt.Sprintf("%s, iteration %d", word, it.N), wording.Sentence(v.Text(c.Reason, 600))))
	p.Part(v.criteria(c.Criteria, min(mostCriteria, 3*r.checks)))
	return p.String()
}

// newestReview is the newest verdict that an agent gave who only read, with its iteration.
func (v View) newestReview() (*loop.Iteration, *loop.Verdict) {
	for _, it := range slices.Backward(v.State.Iterations) {
		for i := range it.Verdicts {
			c := &it.Verdicts[i]
			if c.Skipped == "" && (c.Check == loop.ReviewCheck || c.Check == string(task.QA) && c.Role == task.QA) {
				return it, c
			}
		}
	}
	return nil, nil
}

// criteria are a reviewer's words on each criterion, those that are not met first.
func (v View) criteria(list []loop.Criterion, most int) string {
	if len(list) == 0 || most == 0 {
		return ""
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b loop.Criterion) int {
		switch {
		case a.Met == b.Met:
			return 0
		case b.Met:
			return -1
		}
		return 1
	})
	text := "| | criterion | why |\n|---|---|---|\n"
	for i, c := range list {
		if i == most {
			return text + wording.Row("…", fmt.Sprintf("%d more", len(list)-most), "")
		}
		sign := "❌ not met"
		if c.Met {
			sign = "✅ met"
		}
		text += wording.Row(sign, v.Text(c.Text, 200), v.Text(c.Reason, 300))
	}
	return text
}

// checks lists the verdicts of the newest judged iteration.
func (v View) checks(most int) string { return v.checksOf(v.Judged(), most) }

// checksOf lists the verdicts of an iteration.
func (v View) checksOf(it *loop.Iteration, most int) string {
	if it == nil || most == 0 {
		return ""
	}
	shown, own, took := v.shownVerdicts(it.Verdicts)
	var b strings.Builder
	b.WriteString("| check | result | time |\n|---|---|--:|\n")
	for i, c := range shown {
		if i == most {
			b.WriteString(wording.Row("…", fmt.Sprintf("%d more", len(shown)-most), ""))
			break
		}
		b.WriteString(wording.Row(v.Code(c.Check, 80), v.verdict(c), wording.Duration(c.Duration)))
	}
	if own > 0 {
		b.WriteString(wording.Row(safetext.Count(own, "check")+" of ralph's own", "✅ pass", wording.Duration(took)))
	}
	return b.String()
}

// shownVerdicts are the verdicts that people want to read of: those of the repository's own commands and of whoever reviews, and
// all that did not simply pass. Of the others it says how many there are and how long they took.
func (v View) shownVerdicts(verdicts []loop.Verdict) (shown []loop.Verdict, own int, took time.Duration) {
	for _, c := range verdicts {
		if c.Pass && c.Skipped == "" && !c.Flaky && !c.Verification && ownNames[c.Check] {
			own++
			took += c.Duration
			continue
		}
		shown = append(shown, c)
	}
	return shown, own, took
}

// ownNames are the checks that ralph makes itself, of which no one wants to read unless they say no.
var ownNames = map[string]bool{
	loop.AgentCheck: true, loop.ClaimCheck: true, loop.DiffCheck: true, loop.PlanCheck: true, "protected paths": true,
	"weakened tests": true, "unfinished work": true,
}

func (v View) verdict(c loop.Verdict) string {
	switch {
	case c.Skipped != "":
		return "– skipped: " + v.Text(c.Skipped, 120)
	case c.Pass && c.Flaky:
		return "✅ pass, ⚠️ flaky: it failed and passed on the same tree"
	case c.Says():
		return "✅ pass: " + v.Text(c.Reason, 300)
	case c.Pass:
		return "✅ pass"
	case c.Waits:
		return "⏳ waits: " + v.Text(c.Reason, 160)
	case c.Severity == loop.Soft:
		return "⚠️ warning: " + v.Text(c.Reason, 160)
	}
	return "❌ fail: " + v.Text(c.Reason, 160)
}

// Judged is the newest iteration that the checks have spoken about.
func (v View) Judged() *loop.Iteration {
	for i := len(v.State.Iterations) - 1; i >= 0; i-- {
		if v.State.Iterations[i].Judged {
			return v.State.Iterations[i]
		}
	}
	return nil
}
