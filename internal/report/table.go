package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// iterations is the table of the newest iterations; older ones fold into one row that counts them.
func (v View) iterations(most int, timeline bool) string {
	return v.table(v.State.Iterations, most, v.columns(timeline))
}

// short is the same table with as few columns as fit a phone.
func (v View) short(most int) string {
	return v.table(v.State.Iterations, most, []column{
		{"#", "--:|", func(it *loop.Iteration) string { return fmt.Sprint(it.N) }},
		{"for", "---|", func(it *loop.Iteration) string { return v.briefly(it.Story, it.Role, it.Mode) }},
		{"checks", "---|", func(it *loop.Iteration) string { return v.resultIn(it, 30) }},
		{"time", "--:|", func(it *loop.Iteration) string { return wording.Duration(wording.IterationTime(it)) }},
	})
}

// briefly is what a turn is for in one cell: the story, else the role when there are several, and the mode.
func (v View) briefly(story string, role task.Role, mode loop.Mode) string {
	first := ""
	switch {
	case story != "":
		first = v.name(story, 20)
	case v.Roles():
		first = v.role(role)
	}
	return wording.JoinedBy(", ", first, v.mode(mode))
}

func (v View) table(its []*loop.Iteration, most int, cols []column) string {
	if len(its) == 0 && v.State.Turning == nil {
		return ""
	}
	var b strings.Builder
	var names []string
	rule := "|"
	for _, c := range cols {
		names = append(names, c.name)
		rule += c.rule
	}
	b.WriteString(wording.Row(names...) + rule + "\n")
	if hidden := len(its) - most; hidden > 0 {
		b.WriteString(foldedRow(its[:hidden], cols))
		its = its[hidden:]
	}
	for _, it := range its {
		var cells []string
		for _, c := range cols {
			cells = append(cells, c.cell(it))
		}
		b.WriteString(wording.Row(cells...))
	}
	b.WriteString(v.turningRow(cols))
	return b.String()
}

type column struct {
	name, rule string
	cell       func(*loop.Iteration) string
}

// columns are those that have anything to show: tokens and cost are left out where no agent tells them.
func (v View) columns(timeline bool) []column {
	cols := []column{{"#", "--:|", func(it *loop.Iteration) string { return fmt.Sprint(it.N) }}}
	if v.State.Plan != nil {
		cols = append(cols, column{"story", "---|", func(it *loop.Iteration) string { return v.name(it.Story, 40) }})
	}
	if v.Roles() {
		cols = append(cols, column{"role", "---|", func(it *loop.Iteration) string { return v.role(it.Role) }})
	}
	cols = append(cols,
		column{"mode", "---|", func(it *loop.Iteration) string { return v.mode(it.Mode) }},
		column{"checks", "---|", v.result},
		column{"changed", "---|", wording.Changed},
		column{"time", "--:|", func(it *loop.Iteration) string { return wording.Duration(wording.IterationTime(it)) }})
	var known loop.Usage
	for _, it := range v.State.Iterations {
		known = known.Plus(wording.Usage(it))
	}
	if known.Input+known.Output+known.CacheRead+known.CacheWrite > 0 {
		cols = append(cols, column{"tokens in / out", "--:|", func(it *loop.Iteration) string {
			u := wording.Usage(it)
			return wording.Tokens(u.Input+u.CacheRead+u.CacheWrite) + " / " + wording.Tokens(u.Output)
		}})
	}
	if known.CostUSD > 0 {
		cols = append(cols, column{"cost", "--:|", func(it *loop.Iteration) string {
			if c := wording.Usage(it).CostUSD; c > 0 {
				return wording.Dollars(c)
			}
			return ""
		}})
	}
	if timeline {
		cols = append(cols, column{"began", "---|", func(it *loop.Iteration) string { return wording.Clock(it.At) }})
	}
	return cols
}

func foldedRow(its []*loop.Iteration, cols []column) string {
	failed := 0
	for _, it := range its {
		if it.Failure() != nil {
			failed++
		}
	}
	cells := make([]string, len(cols))
	cells[0] = "…"
	for i, c := range cols {
		if c.name == "checks" {
			cells[i] = fmt.Sprintf("%s not shown, %d failed", safetext.Count(len(its), "earlier iteration"), failed)
		}
	}
	return wording.Row(cells...)
}

// turningRow shows the turn that runs now.
func (v View) turningRow(cols []column) string {
	t := v.State.Turning
	if t == nil || v.State.End != nil {
		return ""
	}
	now := map[string]string{"#": fmt.Sprint(t.Iteration), "began": wording.Clock(t.At), "story": v.name(t.Story, 40),
		"role": v.role(t.Role), "mode": v.mode(t.Mode), "for": v.briefly(t.Story, t.Role, t.Mode), "checks": "⏳ agent works"}
	if !v.Now.IsZero() && v.Now.After(t.At) {
		now["time"] = wording.Duration(v.Now.Sub(t.At))
	}
	var cells []string
	for _, c := range cols {
		cells = append(cells, now[c.name])
	}
	return wording.Row(cells...)
}

func (v View) mode(m loop.Mode) string { return v.Text(string(m), 20) }

func (v View) role(r task.Role) string { return v.Text(string(r), 20) }

// Roles reports whether anyone but the coder takes turns in the run.
func (v View) Roles() bool {
	other := func(it *loop.Iteration) bool { return it.Role != "" && it.Role != task.Coder }
	return len(v.State.Writers()) > 1 || slices.ContainsFunc(v.State.Iterations, other)
}

// who took an iteration's turn and for what.
func (v View) who(it *loop.Iteration) string {
	text := v.mode(it.Mode)
	if v.Roles() {
		text = v.role(it.Role) + ", " + text
	}
	if it.Story != "" {
		text = v.name(it.Story, 40) + ", " + text
	}
	return text
}

// result is what the checks said of an iteration, in a sign and words.
func (v View) result(it *loop.Iteration) string { return v.resultIn(it, 60) }

// resultIn is result with at most most characters of the name of what failed.
func (v View) resultIn(it *loop.Iteration, most int) string {
	if !it.Judged {
		return v.Unjudged(it)
	}
	switch f := it.Failure(); {
	case f != nil && f.Waits:
		return "⏳ waits for " + v.Code(f.Check, most)
	case f != nil:
		return "❌ fail: " + v.Code(f.Check, most)
	}
	passed, warned, skipped := 0, 0, 0
	for _, c := range it.Verdicts {
		switch {
		case c.Skipped != "":
			skipped++
		case c.Pass:
			passed++
		default:
			warned++
		}
	}
	text := fmt.Sprintf("✅ pass: %d", passed)
	if word := wording.Handed(it); word != "" {
		text = fmt.Sprintf("%s; pass: %d", word, passed)
	}
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if warned > 0 {
		text += fmt.Sprintf(", ⚠️ %s", safetext.Count(warned, "warning"))
	}
	return text
}

func (v View) Unjudged(it *loop.Iteration) string {
	switch {
	case v.State.End == nil && it.N == v.State.Last().N:
		return "⏳ checks run"
	case it.Turn.Class != loop.OK:
		return "not checked: " + v.Text(string(it.Turn.Class), 20)
	}
	return "not checked"
}
