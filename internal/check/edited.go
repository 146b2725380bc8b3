package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Edited says no when the run changed what judges it: a script that a check runs, the recipe of a make target, a script
// of package.json. A script whose path does not say that it is a judge may be the work itself, and only warns. What a
// check's line names is read as it was in the base commit, and what that names in turn, some steps deep. A check whose
// line names no file, such as "go test ./...", is judged by Weakened alone. A script that the run itself has added is
// none of the judge's.
type Edited struct {
	Changes *diffscan.Changes
	Guards  []Guard
	Dir     string // where they run, from the top of the worktree; empty: there
	Hard    bool   // only a person may accept an edit
}

// Guard is a check's command.
type Guard struct {
	Title string
	Line  string // for the shell
}

// Name is the check's name in verdicts.
func (*Edited) Name() string { return EditedCheck }

// Severity is soft, unless the setting says hard: a reviewer may accept an edit by the file's name.
func (e *Edited) Severity() loop.Severity {
	if e.Hard {
		return loop.Hard
	}
	return loop.Soft
}

// Needs a turn that left something: an agent is told before it claims anything.
func (*Edited) Needs() Need { return SomeWork }

// Run looks at what each check runs.
func (e *Edited) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	d, err := changeOf(ctx, e.Changes, at)
	if err != nil || d == nil || len(d.Names) == 0 {
		return loop.Verdict{Pass: true}, err
	}
	var judges, work edits
	for _, g := range e.Guards {
		edited, err := d.Edited(ctx, g.Line, path.Clean(e.Dir))
		if err != nil {
			return loop.Verdict{}, fmt.Errorf("finding out what the check %s runs: %w", g.Title, err)
		}
		for _, found := range edited {
			if found.Judge {
				judges.add(found, g)
			} else {
				work.add(found, g)
			}
		}
	}
	switch {
	case len(judges.parts) > 0:
		return loop.Verdict{
			Reason: "the change edits what judges it: " + judges.list(),
			PromptText: fmt.Sprintf("What judges the work is not yours to change: %s. Put it back as it was in the commit "+
				"%.12s, and make the code pass it.", judges.list(), d.From),
			Output:   loop.Excerpt(strings.Join(judges.files(), "\n") + "\n"),
			Findings: judges.findings, Concerns: judges.concerns(),
		}, nil
	case len(work.parts) > 0:
		return loop.Verdict{
			Severity: loop.Soft, Reason: "the change edits what a check runs, which seems to be the work itself: " + work.list(),
			Output: loop.Excerpt(strings.Join(work.files(), "\n") + "\n"), Findings: work.findings,
		}, nil
	}
	return loop.Verdict{Pass: true}, nil
}

// edits are the edited files of one kind, in words and as findings.
type edits struct {
	parts, names []string
	findings     []loop.Finding
}

func (e *edits) add(found diffscan.EditedFile, g Guard) {
	text := what(found) + ", which the check " + quote(g.Title) + " runs"
	if slices.Contains(e.parts, text) {
		return
	}
	e.parts = append(e.parts, text)
	e.names = append(e.names, found.File)
	if len(e.findings) < loop.MaxFindings {
		e.findings = append(e.findings, loop.Finding{File: found.File, Message: shorten(text, 250)})
	}
}

// list names five at most.
func (e *edits) list() string {
	text := strings.Join(e.parts[:min(len(e.parts), 5)], "; ")
	if more := len(e.parts) - 5; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// concerns are one a file: whoever accepts an edit accepts all that was done to the file.
func (e *edits) concerns() (list []loop.Concern) {
	for i, name := range e.names {
		list = addConcern(list, loop.Concern{Name: name, Kind: loop.EditsCheck, Message: e.parts[i], File: name})
	}
	return list
}

// files are sorted, each once.
func (e *edits) files() []string {
	return slices.Compact(slices.Sorted(slices.Values(e.names)))
}

// what says what was edited.
func what(f diffscan.EditedFile) string {
	switch {
	case f.Part != "":
		return f.Part + " in " + shownName(f.File) + " was changed"
	case f.Deleted:
		return shownName(f.File) + " was deleted"
	}
	return shownName(f.File) + " was changed"
}
