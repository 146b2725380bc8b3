package engine

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// yours is the guardrail that stands in the documents for all of them.
const yours = "your checks"

// runsOn are the words of docs/checks.md for what a check needs to run.
var runsOn = map[check.Need]string{
	0:                               "every turn",
	check.SomeWork:                  "work",
	check.SomeWork | check.Green:    "work, green",
	check.SomeWork | check.AClaim:   "claim",
	check.HardGreen:                 "final",
	check.HardGreen | check.AChange: "final change",
}

// TestDocumentsListTheChecks: docs/checks.md lists the checks of a task with every role, and those of a prompt, in order.
func TestDocumentsListTheChecks(t *testing.T) {
	guide := rowsOf(t, "../../docs/checks.md", "| check | type | runs on | fails or warns if |")
	if len(guide) != 2 {
		t.Fatalf("docs/checks.md has %d tables of checks, want those of a task and of a prompt", len(guide))
	}
	for i, want := range [][]check.Check{everyCheck(t, false), everyCheck(t, true)} {
		rows := safetext.Map(guide[i], func(row []string) string { return strings.Join(row[:3], " | ") })
		checks := safetext.Map(want, func(c check.Check) string {
			on := runsOn[c.Needs()&^(check.ReadsOnly|check.Quiet)]
			return strings.Join([]string{cellOf(c.Name()), string(c.Severity()), on}, " | ")
		})
		if !slices.Equal(rows, checks) {
			t.Errorf("docs/checks.md lists\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(checks, "\n"))
		}
	}
}

// everyCheck is the real list, with all that a run may have.
func everyCheck(t *testing.T, plain bool) []check.Check {
	t.Helper()
	all := &task.Completion{}
	for _, r := range task.Roles {
		all.Set(r, &task.Criteria{Promise: r.Promise()})
	}
	set := config.Defaults()
	set.Guardrails = []config.Guardrail{{Name: yours, Command: "make test", Severity: config.Hard}}
	run := &Run{
		Spec: &Spec{
			Work: Work{OfPrompt: plain}, Rules: Rules{Settings: set},
			Place: Place{Workspace: Directory(t.TempDir()), Tree: &git.Tree{}},
		},
	}
	start := loop.Start{Assignment: loop.Assignment{Pipeline: task.Roles, Completion: all}}
	if plain { // which has no roles
		run.SCM, start = &check.SCM{}, loop.Start{}
	}
	return run.checks(t.Context(), loop.State{Start: start}, &agent.Options{}, nil).Checks
}

// cellOf is a check's name as a table has it.
func cellOf(name string) string {
	if name == yours {
		return name
	}
	return "`" + name + "`"
}

// rowsOf is the cells of every table with this header in a document.
func rowsOf(t *testing.T, file, header string) (tables [][][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	noError(t, err)
	for _, part := range strings.Split(string(text), "\n"+header+"\n")[1:] {
		var rows [][]string
		for i, line := range strings.Split(part, "\n") {
			if !strings.HasPrefix(line, "|") {
				break
			}
			if i == 0 { // the line of dashes
				continue
			}
			row := strings.Split(strings.Trim(line, "|"), "|")
			for j := range row {
				row[j] = strings.TrimSpace(row[j])
			}
			rows = append(rows, row)
		}
		tables = append(tables, rows)
	}
	return tables
}
