package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// warnings are the soft checks that failed in the newest judged iteration.
func warnings(s loop.State) (soft []loop.Verdict) {
	if it := (View{State: s}).Judged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Severity == loop.Soft && c.Skipped == "" && !c.Pass {
				soft = append(soft, c)
			}
		}
	}
	return soft
}

// MostFindings is how many places of a failure a report lists.
const MostFindings = 20

// findings is the table of the places that the last failure names.
func (v View) findings(r room) string {
	f := v.State.Failure()
	most := min(r.lines, MostFindings)
	if f == nil || most == 0 || len(f.Findings) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| where | what |\n|---|---|\n")
	for i, found := range f.Findings {
		if i == most {
			b.WriteString(wording.Row("…", fmt.Sprintf("%d more", len(f.Findings)-most)))
			break
		}
		b.WriteString(wording.Row(cmp.Or(v.place(found), "–"), v.Text(wording.Said(found), 200)))
	}
	return b.String()
}

// place is where a finding is: file and line, else the test.
func (v View) place(f loop.Finding) string { return v.Code(wording.Place(f), 120) }

// warned names what a person should look at though it does not block: why a failed check passes now, what the soft checks
// of the newest attempt found, such as weakened tests and unfinished markers, and the checks that passed only at the
// second try.
func (v View) warned(r room) string {
	if r.remarks == 0 {
		return ""
	}
	var p wording.Markdown
	if it := v.Judged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Says() {
				p.WriteString("- " + safetext.UpperFirst(v.Text(c.Reason, 300)) + "\n")
			}
		}
	}
	p.WriteString(v.accepted(r))
	for i, c := range warnings(v.State) {
		if i == r.remarks {
			p.Part(fmt.Sprintf("- %s more", safetext.Count(len(warnings(v.State))-i, "warning")))
			break
		}
		p.WriteString(v.warning(c, r))
	}
	if flaky := v.flaky(r.remarks); flaky != "" {
		p.WriteString("- ⚠️ flaky, they failed and passed on the same tree: " + flaky + "\n")
	}
	return p.String()
}

// warning is one soft check's item, with the places it names, or else what it said.
func (v View) warning(c loop.Verdict, r room) string {
	text := "- ⚠️ " + v.Code(c.Check, 80)
	if reason := v.Text(c.Reason, 300); reason != "" {
		text += ": " + reason
	}
	text += "\n"
	for i, f := range c.Findings {
		if i == r.remarks {
			return text + fmt.Sprintf("  - %d more\n", len(c.Findings)-i)
		}
		text += "  - " + strings.TrimPrefix(v.place(f)+" — ", " — ") + v.Text(wording.Said(f), 200) + "\n"
	}
	if len(c.Findings) > 0 || strings.TrimSpace(c.Output) == "" || r.lines == 0 {
		return text
	}
	return text + "\n" + v.Fence(c.Output, min(r.lines, 10)) + "\n"
}

// flaky names the checks that failed and passed on one and the same tree, in any attempt.
func (v View) flaky(most int) string {
	var names []string
	seen := map[string]bool{}
	for _, it := range v.State.Iterations {
		for _, c := range it.Verdicts {
			if !c.Flaky || seen[c.Check] {
				continue
			}
			seen[c.Check] = true
			if len(names) < most {
				names = append(names, v.Code(c.Check, 80))
			}
		}
	}
	if hidden := len(seen) - len(names); hidden > 0 {
		names = append(names, fmt.Sprintf("%d more", hidden))
	}
	return strings.Join(names, ", ")
}

// lastFailure shows the newest failure, folded: the places that it names, and the lines of its output around them.
func (v View) lastFailure(lines int) string {
	it := v.Judged()
	if it == nil || it.Failure() == nil || it.Failure().Waits {
		return ""
	}
	f := it.Failure()
	if lines == 0 {
		return fmt.Sprintf("Last failure: iteration %d, %s.", it.N, v.Code(f.Check, 60))
	}
	var p wording.Markdown
	// GitHub reads no Markdown in a summary; the name is escaped for HTML instead.
	p.Line("<details><summary>Last failure: iteration %d, <code>%s</code></summary>", it.N, v.html(f.Check, 60))
	p.Part(v.failureOf(it, lines))
	p.Part("</details>")
	return p.String()
}

// mostPlaces is how many places of a failure are named before its output.
const mostPlaces = 5

// failureOf is what blocked an iteration: why, where, and what was printed.
func (v View) failureOf(it *loop.Iteration, lines int) string {
	f := it.Failure()
	if f == nil || lines == 0 {
		return ""
	}
	var p wording.Markdown
	p.Part(safetext.UpperFirst(wording.Sentence(v.Text(wording.Unplaced(*f), 400))))
	p.Part(v.places(*f, 0))
	if strings.TrimSpace(f.Output) != "" {
		p.Part(v.fenceAt(f.Output, f.Findings, lines))
	}
	p.Part(v.turnEnd(it))
	return p.String()
}

// places are those that a failure names, but for the first ones, which are told already.
func (v View) places(f loop.Verdict, told int) string {
	list := f.Findings[min(told, len(f.Findings)):]
	text := ""
	for i, found := range list {
		if i == mostPlaces {
			return text + fmt.Sprintf("- %d more\n", len(list)-i)
		}
		text += "- " + wording.JoinedBy(" — ", v.place(found), v.Text(wording.Said(found), 200)) + "\n"
	}
	return text
}

// turnEnd says how a turn ended that did not end well, where a check is what is shown as the failure; else "".
func (v View) turnEnd(it *loop.Iteration) string {
	if it == nil || it.Turn.Class == loop.OK || it.Turn.Class == "" {
		return ""
	}
	if f := it.Failure(); f == nil || f.Check == loop.AgentCheck {
		return ""
	}
	return wording.JoinedBy(" ", "The turn itself:", wording.Sentence(v.Text(it.Turn.Reason, 300)))
}
