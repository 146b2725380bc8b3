// Package live shows how a run is in the last lines of a terminal, below a log that scrolls.
package live

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Facts are how a run is at a moment.
type Facts struct {
	Name      string // of several runs at once: its task
	Title     string
	Iteration string // "2/10"; empty before the first
	Role      string // of the turn: "coder"
	Elapsed   time.Duration
	Usage     loop.Usage
	Note      string // why the run waits; empty: it does not
	Now       time.Time
	loop.Progress
}

// FactsOf returns what a run's records and its process say at a moment.
func FactsOf(s loop.State, p loop.Progress, now time.Time) Facts {
	f := Facts{Title: s.Start.Title, Usage: s.Usage.Minus(s.UsageBefore), Now: now, Elapsed: now.Sub(p.Began), Progress: p}
	if t := s.Turning; t != nil {
		f.Iteration, f.Role = s.Of(t.Iteration), string(t.Role)
	} else if n := len(s.Iterations); n > 0 {
		f.Iteration = s.Of(n)
	}
	return f
}

// Style is how facts are drawn.
type Style struct {
	Color   bool
	Unicode bool // else ASCII
}

// frame is how often the block is drawn.
const frame = 200 * time.Millisecond

// mostRows is how many rows the block of a single run has at most.
const mostRows = 8

// MaxRows is how many rows a block may have on a terminal of a height: a third of it, and those of a single run in any
// case.
func MaxRows(height int) int { return max(mostRows, height/3) }

// Rows are the facts in lines that are no wider than width columns, at most mostRows.
func (s Style) Rows(f Facts, width int) []string {
	width = max(width, 10)
	rows := []string{s.rule(f.Title, width), s.row(width, s.spinner(f.Now)+" ", s.head(f))}
	if step := s.step(f); step != "" {
		rows = append(rows, s.row(width, "  ", step))
	}
	if f.Running && f.Step.Doing != "" {
		rows = append(rows, s.row(width, "  ", s.faint(s.mark("↳ ", "> ")+safetext.Inert(f.Step.Doing))))
	}
	if f.Note != "" {
		rows = append(rows, s.row(width, "  ", safetext.Inert(f.Note)))
	}
	return append(rows, s.checks(f, width, mostRows-len(rows))...)
}

// rule parts the block from the log above. It is no wider than it has to be: a terminal that is made narrower wraps it.
func (s Style) rule(title string, width int) string {
	dash := s.mark("──", "--")
	if title = safetext.Inert(title); title != "" {
		dash += " " + ansi.Truncate(title, max(min(width, 60)-6, 1), s.mark("…", "~")) + " " + dash
	}
	return s.faint(dash)
}

func (s Style) row(width int, before, text string) string {
	return ansi.Truncate(before+text, width, s.mark("…", "~"))
}

// head is the iteration, the time and the spend.
func (s Style) head(f Facts) string {
	parts := []string{"preparing"}
	if f.Iteration != "" {
		parts = []string{s.styled(ansi.NewStyle().Bold(), "iteration "+f.Iteration)}
	}
	if f.Role != "" {
		parts = append(parts, f.Role)
	}
	elapsed := safetext.Duration(f.Elapsed.Truncate(time.Second))
	if f.Limits.Wall > 0 {
		elapsed += " of " + safetext.Duration(f.Limits.Wall)
	}
	return strings.Join(append(parts, elapsed, s.spend(f)), s.mark(" · ", " - "))
}

func (s Style) spend(f Facts) string {
	text := cmp.Or(wording.UsageText(f.Usage), "nothing spent yet")
	if most := f.Limits.CostUSD; most > 0 {
		text += " of " + wording.Dollars(most)
	}
	return text
}

// step is what runs now, for how long, and how long it may.
func (s Style) step(f Facts) string {
	if !f.Running {
		return ""
	}
	text := safetext.Inert(f.Step.Name) + s.mark(" · ", " - ") + took(f.Now.Sub(f.Step.Began))
	if !f.Step.Deadline.IsZero() {
		text += " of at most " + safetext.Duration(f.Step.Deadline.Sub(f.Step.Began))
	}
	return text
}

func took(d time.Duration) string { return safetext.Duration(max(d, 0).Truncate(time.Second)) }

// checks are ticked off as they run, several in a row.
func (s Style) checks(f Facts, width, most int) (rows []string) {
	line := "  "
	for i, c := range f.Checks {
		word := s.check(c, f.Now)
		if line != "  " && ansi.StringWidth(line)+3+ansi.StringWidth(word) > width {
			rows, line = append(rows, line), "  "
		}
		if len(rows) == most-1 && i < len(f.Checks)-1 {
			return append(rows, s.row(width, "  ", fmt.Sprintf("and %s", safetext.Count(len(f.Checks)-i, "more check"))))
		}
		if line != "  " {
			line += "   "
		}
		line = s.row(width, line, word)
	}
	if line != "  " {
		rows = append(rows, line)
	}
	return rows
}

func (s Style) check(c loop.CheckStep, now time.Time) string {
	name := safetext.Shorten(safetext.Inert(c.Name), 40)
	switch v := c.Verdict; {
	case v == nil && c.Began.IsZero():
		return s.faint(s.mark("○ ", "[ ] ") + name)
	case v == nil:
		return s.spinner(now) + " " + name + " " + took(now.Sub(c.Began))
	case v.Skipped != "":
		return s.faint(s.mark("– ", "[-] ") + name)
	case v.Pass:
		return s.colored(ansi.Green, s.mark("✓ ", "[x] ")) + name
	case v.Blocks():
		return s.colored(ansi.Red, s.mark("✗ ", "[!] ")) + name
	}
	return s.colored(ansi.Yellow, s.mark("! ", "[?] ")) + name
}

// spinner turns as time passes.
func (s Style) spinner(now time.Time) string {
	frames := []rune(s.mark("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", `|/-\`))
	return s.colored(ansi.Cyan, string(frames[int(now.UnixMilli()/frame.Milliseconds())%len(frames)]))
}

func (s Style) mark(unicode, ascii string) string {
	if s.Unicode {
		return unicode
	}
	return ascii
}

func (s Style) styled(as ansi.Style, text string) string {
	if !s.Color {
		return text
	}
	return as.Styled(text)
}

func (s Style) faint(text string) string { return s.styled(ansi.NewStyle().Faint(), text) }

func (s Style) colored(color ansi.BasicColor, text string) string {
	return s.styled(ansi.NewStyle().ForegroundColor(color), text)
}

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
		which := s.styled(ansi.NewStyle().Bold(), safetext.Shorten(safetext.Inert(f.Name), 30))
		rows = append(rows, s.row(width, s.spinner(now)+" ", which+s.mark(" · ", " - ")+s.head(f)))
		if each == 2 {
			rows = append(rows, s.row(width, "  ", s.faint(s.mark("↳ ", "> "))+s.doing(f)))
		}
	}
	if left := len(all) - shown; left > 0 {
		rows = append(rows, s.row(width, "  ", fmt.Sprintf("and %s", safetext.Count(left, "more task"))))
	}
	return rows
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
