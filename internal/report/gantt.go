package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// What a timeline shows at most. Mermaid draws nothing of more than 50,000 characters.
const (
	mostSections = 30 // iterations
	mostBars     = 10 // checks of one iteration
)

// gantt draws the newest iterations, most of them, as a timeline of turns, checks and reviews. Of what others
// wrote it shows letters and digits only, each behind a word of ours, so that Mermaid takes none of it for its own
// language. Times are in milliseconds: Mermaid takes those of dateFormat X for such, too.
func (v View) gantt(most int) string {
	its := v.State.Iterations
	its = its[max(0, len(its)-min(most, mostSections)):]
	var b strings.Builder
	for _, it := range its {
		b.WriteString(v.ganttSection(it))
	}
	if b.Len() == 0 {
		return ""
	}
	return "```mermaid\ngantt\n  dateFormat x\n  axisFormat %H:%M\n" + b.String() + "```\n"
}

// ganttSection is one iteration: its turn, and its checks one after another.
func (v View) ganttSection(it *loop.Iteration) string {
	var b strings.Builder
	role := ""
	if v.Roles() {
		role = string(it.Role)
	}
	fmt.Fprintf(&b, "  section %d %s\n", it.N, v.safe(wording.JoinedBy(" ", it.Story, role, string(it.Mode))))
	at := it.At
	bar := func(name, tag string, took time.Duration) {
		fmt.Fprintf(&b, "  %s :%s%d, %ds\n", name, tag, at.UnixMilli(), max(int(took.Round(time.Second).Seconds()), 1))
		at = at.Add(took)
	}
	turn := ""
	if it.Turn.Class != loop.OK {
		turn = "crit, "
	}
	bar("turn", turn, it.Turn.Duration)
	bars := 0
	for _, c := range it.Verdicts {
		if c.Skipped != "" || c.Pass && c.Duration < time.Second {
			continue
		}
		if bars++; bars > mostBars {
			break
		}
		bar(v.barName(c), barTag(c), c.Duration)
	}
	return b.String()
}

func (v View) barName(c loop.Verdict) string {
	if c.Check == loop.ReviewCheck {
		return "review"
	}
	return "check " + v.safe(c.Check)
}

func barTag(c loop.Verdict) string {
	switch {
	case c.Pass:
		return "done, "
	case c.Severity == loop.Soft:
		return "active, "
	}
	return "crit, "
}

// safe is label without what the run keeps secret.
func (v View) safe(s string) string { return DiagramLabel(v.Clean(s)) }

// DiagramLabel is a text that means nothing to Mermaid.
func DiagramLabel(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.,/ ", r) {
			return r
		}
		return ' '
	}, View{}.Clean(s))
	return cmp.Or(safetext.Shorten(safetext.OneLine(s), 50), "-")
}
