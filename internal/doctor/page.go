package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// status is how something stands.
type status int

const (
	good status = iota
	bad
	wrong
	absent // which may be as it should
	warning
	problem
	unknown
	more // of the row above
)

// marks are how things stand, in words or in signs.
var marks = map[bool][]string{
	false: {"ok     ", "missing", "invalid", "-      ", "warning", "problem", "unknown", "       "},
	true:  {"✓", "✗", "✗", "–", "–", "✗", "?", " "},
}

// grades are the statuses of what is found on GitHub.
var grades = map[github.Grade]status{github.OK: good, github.Warning: warning, github.Problem: problem,
	github.Unknown: unknown}

// row is one line of what a doctor says.
type row struct {
	name   string
	status status
	text   string
}

// list is rows, a line each.
func (d *Doctor) list(rows []row) string {
	width, marks := 0, marks[d.Marks]
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.name))
	}
	var page strings.Builder
	for _, r := range rows {
		begins := fmt.Sprintf("%-*s  %s  ", width, r.name, marks[r.status])
		page.WriteString(strings.TrimRight(d.wrapped(begins, r.text), " ") + "\n")
	}
	return page.String()
}

// Text is a diagnosis for people: a line each, and what to do at the end.
func (d *Doctor) Text(out Diagnosis) string {
	var page strings.Builder
	page.WriteString(d.list(out.rows()))
	if out.Ready {
		page.WriteString("\nReady: ralph run would start this:\n  " + out.Command + "\n")
		if out.Review != "" {
			page.WriteString("and its reviewer, where a run has one:\n  " + out.Review + "\n")
		}
	} else {
		if out.Command != "" {
			page.WriteString("\nralph run would start this:\n  " + out.Command + "\n")
		}
		page.WriteString("\n" + d.wrapped("To do: ", out.Todo) + "\n")
	}
	return page.String()
}

// wrapped is a text after its beginning; what does not fit into the width continues below it. It is broken only between
// words, so that a command can be copied.
func (d *Doctor) wrapped(begins, text string) string {
	indent := ansi.StringWidth(begins)
	if d.Width-indent < leastRoom {
		return begins + text
	}
	var page strings.Builder
	page.WriteString(begins)
	at := indent
	for i, word := range strings.Fields(text) {
		wide := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+wide > d.Width:
			page.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			page.WriteString(" ")
			at++
		}
		page.WriteString(word)
		at += wide
	}
	return page.String()
}

// leastRoom is how many columns a text needs to be wrapped.
const leastRoom = 20

func (d *Diagnosis) rows() []row {
	rows := []row{{"git", good, d.Git.Version}, {"repository", good, d.Repository}}
	if d.Git.Advice != "" {
		rows[0] = row{"git", bad, d.Git.Advice}
	}
	if d.Repository == "" {
		rows[1] = row{"repository", absent, "none here: a run of an issue needs one, a run of a prompt does not"}
	}
	rows = append(rows, d.settingsRows()...)
	chosen := []agent.Found{d.Agent}
	if d.Reviewer != nil {
		chosen = append(chosen, *d.Reviewer)
	}
	var missing []string
	for _, f := range d.Agents {
		if f.Path == "" && !known(chosen, f.Name) {
			missing = append(missing, f.Name)
			continue
		}
		rows = append(rows, agentRow(f, f.Name == d.Agent.Name))
	}
	if len(missing) > 0 {
		rows = append(rows, row{"others", absent, "not installed: " + strings.Join(missing, ", ")})
	}
	for _, f := range chosen {
		if f.Name != "" && !known(d.Agents, f.Name) {
			rows = append(rows, agentRow(f, true))
		}
	}
	return slices.Concat(rows, d.Sandbox.row(), d.gatewayRows(), pricesRow(time.Now()), d.checkRows(),
		d.keptRow())
}

// row is what holds; settings that are wrong say nothing of it.
func (h SandboxState) row() []row {
	switch {
	case h.Advice != "":
		return []row{{"sandbox", bad, h.Advice}}
	case h.Mode == sandbox.Off:
		return []row{{"sandbox", absent, h.Says}}
	case h.Mode == "":
		return nil
	}
	return []row{{"sandbox", good, h.Says}}
}

// pricesRow is how old the list of prices is that ralph brings along.
func pricesRow(now time.Time) []row {
	date := gateway.List().Date
	made, _ := time.Parse("2006-01", date)
	text := fmt.Sprintf("list of %s, %d months old", date, max(0, int(now.Sub(made).Hours()/24/30.4)))
	return []row{{"prices", good, text + "; to renew it: ralph settings set --user prices --from FILE"}}
}

// gatewayRows are the agents whose keys would stay with ralph, and why the others' would not.
func (d *Diagnosis) gatewayRows() (rows []row) {
	var kept, not []string
	for _, l := range d.Gateway {
		if l.Kept {
			kept = append(kept, l.Name)
		} else {
			not = append(not, l.Why)
		}
	}
	if len(kept) > 0 {
		rows = append(rows, row{"gateway", good, "keeps the key from " + strings.Join(kept, ", ")})
	}
	if len(not) > 0 {
		rows = append(rows, row{"gateway", absent, "not used: " + strings.Join(not, "; ")})
	}
	return rows
}

// keptRow is where the data of clones is.
func (d *Diagnosis) keptRow() []row {
	if len(d.Kept.Dirs) == 0 {
		return []row{{"clones", absent, "nothing is kept for any"}}
	}
	return []row{{"clones", good, fmt.Sprintf("%s of %s, in %s", safetext.Bytes(d.Kept.Bytes),
		safetext.Counted(d.Kept.Clones, "clone", "clones"), strings.Join(d.Kept.Dirs, " and "))}}
}

func (d *Diagnosis) settingsRows() []row {
	switch {
	case len(d.Problems) > 0:
		return safetext.Map(d.Problems, func(problem string) row { return row{"settings", wrong, problem} })
	case len(d.Settings) == 0:
		return []row{{"settings", good, "no files here: the defaults"}}
	}
	return []row{{"settings", good, strings.Join(d.Settings, ", ")}}
}

func (d *Diagnosis) checkRows() []row {
	if len(d.Problems) > 0 {
		return nil
	}
	rows := safetext.Map(d.Checks, func(command string) row { return row{"check", good, command} })
	rows = append(rows, safetext.Map(d.Warnings, func(warning string) row { return row{"warning", absent, warning} })...)
	switch {
	case len(d.Checks) > 0:
	case len(d.Detected) > 0:
		rows = append(rows, row{"checks", absent,
			"none in the settings; a run takes those found here: " + strings.Join(d.Detected, ", ")})
	default:
		rows = append(rows, row{"checks", absent, "none; a run of an issue needs one: name it with ralph init"})
	}
	if d.Setup != "" {
		rows = append(rows, row{"setup", good, d.Setup + " (before the checks, but never for a prompt)"})
	}
	return rows
}

// agentRow reports an agent. One that no one has chosen may well be missing.
func agentRow(f agent.Found, chosen bool) row {
	told := f.Advice
	if f.Path != "" {
		told = safetext.OneLine(f.Version + " " + f.Path)
		for _, more := range []string{f.Credential, f.Advice} {
			if more != "" {
				told += ", " + more
			}
		}
	}
	switch {
	case f.Advice == "":
		return row{f.Name, good, told}
	case chosen:
		return row{f.Name, bad, told}
	case f.Path == "":
		told = "not installed"
	}
	return row{f.Name, absent, told}
}

func known(agents []agent.Found, name string) bool {
	return slices.ContainsFunc(agents, func(f agent.Found) bool { return f.Name == name })
}

// GitHubText is a diagnosis for people: the facts in groups, under each what to do about it and where, and what to do
// first at the end.
func (d *Doctor) GitHubText(out GitHubDiagnosis) string {
	var rows []row
	for i, f := range out.Facts {
		name := f.What
		if i > 0 && out.Facts[i-1].What == name {
			name = ""
		}
		rows = append(rows, row{name, grades[f.Grade], f.Says})
		if advice := strings.TrimSpace(f.Advice + " " + f.Address); advice != "" && f.Grade != github.OK {
			rows = append(rows, row{"", more, "→ " + advice})
		}
	}
	end := "Ready: nothing here keeps ralph from working.\n"
	if !out.Ready {
		end = "To do: " + out.Todo + "\n"
	}
	return out.Repository + "\n\n" + d.list(rows) + "\n" + end
}
