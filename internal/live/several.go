package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Several are the facts of runs at once, a line or two each, in at most `most` lines that are no wider than width
// columns. Title and now are those of all.
func (s Style) Several(title string, all []Facts, now time.Time, width, most int) []string {
	width, most = max(width, 10), max(most, 2)
	rows := []string{s.rule(title, width)}
	if len(all) == 0 {
		return append(rows, s.row(width, s.spinner(now)+" ", "preparing"))
	}
	shown, each := len(all), 2
	if 1+2*shown > most {
		each = 1
	}
	if 1+shown > most {
		shown = most - 2
	}
	for _, f := range all[:shown] {
		rows = append(rows, s.row(width, s.spinner(now)+" ", s.oneOf(f, each == 1)))
		if each == 2 {
			rows = append(rows, s.row(width, "  ", s.faint(s.mark("↳ ", "> "))+s.doing(f)))
		}
	}
	if left := len(all) - shown; left > 0 {
		rows = append(rows, s.row(width, "  ", fmt.Sprintf("and %s", safetext.Count(left, "more task"))))
	}
	return rows
}

// oneOf is a run in a line: which, how far, for how long; with what it does when nothing else says so.
func (s Style) oneOf(f Facts, whole bool) string {
	parts := []string{s.bold(safetext.Shorten(safetext.Inert(f.Name), 30))}
	switch {
	case f.Iteration == "":
		parts = append(parts, "preparing")
	case f.Role == "":
		parts = append(parts, "iteration "+f.Iteration)
	default:
		parts = append(parts, "iteration "+f.Iteration+" "+f.Role)
	}
	parts = append(parts, wording.Duration(f.Elapsed.Truncate(time.Second)))
	if whole {
		parts = append(parts, s.doing(f))
	} else {
		parts = append(parts, s.spend(f))
	}
	return strings.Join(parts, s.mark(" · ", " - "))
}

// doing is what a run does now.
func (s Style) doing(f Facts) string {
	switch {
	case f.Note != "":
		return safetext.Inert(f.Note)
	case f.Running && f.Step.Doing != "":
		return safetext.Inert(f.Step.Doing) + s.mark(" · ", " - ") + took(f.Now.Sub(f.Step.Began))
	case f.Running:
		return ansi.Strip(s.step(f))
	}
	return safetext.Inert(f.Title)
}
