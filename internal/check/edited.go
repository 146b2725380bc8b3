package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// EditedCheck is the name of the check of edited checks.
const EditedCheck = "edited checks"

// Edited says no when the run changed what judges it: a script that a check runs, the recipe of a make target, a script of package.json. A
// script whose path does not say that it is a judge may be the work itself, and only warns.
// What a check's line names is read as it was in the base commit, and what that names in turn, some steps deep. A check whose line names
// no file, such as "go test ./...", is judged by Weakened alone. A script that the run itself has added is none of the judge's.
type Edited struct {
	Changes *Changes
	Guards  []Guard
	Dir     string // where they run, from the top of the worktree; empty: there
	Soft    bool   // it only warns
}

// Guard is a check's command.
type Guard struct {
	Title string
	Line  string // for the shell
}

// Name is the check's name in verdicts.
func (*Edited) Name() string { return EditedCheck }

// Severity is hard unless the setting says soft.
func (e *Edited) Severity() loop.Severity {
	if e.Soft {
		return loop.Soft
	}
	return loop.Hard
}

// Needs a turn that left something: an agent is told before it claims anything.
func (*Edited) Needs() Need { return SomeWork }

// Run looks at what each check runs.
func (e *Edited) Run(ctx context.Context, at At) (loop.Verdict, error) {
	d, err := e.Changes.of(ctx, at)
	if err != nil || d == nil || len(d.names) == 0 {
		return loop.Verdict{Pass: true}, err
	}
	var judges, work edits
	for _, g := range e.Guards {
		r := reach{ctx: ctx, d: d, seen: map[string]bool{}}
		r.line(g.Line, []string{path.Clean(e.Dir)}, 0)
		if r.err != nil {
			return loop.Verdict{}, fmt.Errorf("finding out what the check %s runs: %w", g.Title, r.err)
		}
		for _, found := range r.edited {
			if found.judge {
				judges.add(found, g)
			} else {
				work.add(found, g)
			}
		}
	}
	switch {
	case len(judges.parts) > 0:
		return loop.Verdict{
			Reason:   "the change edits what judges it: " + judges.list(),
			Tell:     fmt.Sprintf("What judges the work is not yours to change: %s. Put it back as it was in the commit %.12s, and make the code pass it.", judges.list(), d.from),
			Output:   loop.Excerpt(strings.Join(judges.files(), "\n") + "\n"),
			Findings: judges.findings,
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

func (e *edits) add(found editedFile, g Guard) {
	text := found.what + ", which the check " + quote(g.Title) + " runs"
	if slices.Contains(e.parts, text) {
		return
	}
	e.parts = append(e.parts, text)
	e.names = append(e.names, found.file)
	if len(e.findings) < loop.MaxFindings {
		e.findings = append(e.findings, loop.Finding{File: found.file, Message: safetext.Shorten(text, 250)})
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

func (e *edits) files() []string {
	slices.Sort(e.names)
	return slices.Compact(e.names)
}

// How far a check's line is followed.
const (
	maxSteps = 3   // from a line to a script that it runs, to one that this runs …
	maxSeen  = 300 // commands and files in all
	maxDirs  = 8   // in which a command may stand
)

// reach is what one check's line runs, and what of it was edited.
type reach struct {
	ctx    context.Context
	d      *change
	seen   map[string]bool
	edited []editedFile
	err    error
}

type editedFile struct {
	file, what string
	judge      bool // it is there to judge; else it may be what is judged
}

// judging matches the path of a script that is there to judge by its own name or that of a directory. A check also runs the program that it
// checks ("node app.js --selftest"), and that is the work.
var judging = lazy(`(?i)(?:^|[/_.-])(?:tests?|testing|specs?|checks?|checking|ci|lint|linters?|verify|verification|validate|validation|e2e|smoke|asserts?|gates?|guards?|guardrails?|coverage|cov|build|scripts?|tools?|hack|make|mage|magefile|nox|noxfile|tox|conftest|runtests?|tasks?|taskfile|rakefile|gruntfile|gulpfile|justfile|makefile|pre-?commit|presubmit)(?:[/_.-]|\d|$)`)

// first reports whether something was not looked at before, and remembers it.
func (r *reach) first(what ...string) bool {
	key := strings.Join(what, "\x00")
	if r.seen[key] || len(r.seen) >= maxSeen || r.err != nil {
		return false
	}
	r.seen[key] = true
	return true
}

// base reads a file as it was before the run.
func (r *reach) base(name string) (text string, ok bool) {
	if r.err != nil {
		return "", false
	}
	text, ok, r.err = r.d.before(r.ctx, name)
	return text, ok
}

func (r *reach) head(name string) (text string, ok bool) {
	if r.err != nil {
		return "", false
	}
	text, ok, r.err = r.d.after(r.ctx, name)
	return text, ok
}

func (r *reach) found(file, format string, args ...any) {
	r.edited = append(r.edited, editedFile{file: file, what: fmt.Sprintf(format, args...), judge: judging.MatchString(file)})
}

// foundRecipe notes a change of what is nothing but a judge, whatever its file is called.
func (r *reach) foundRecipe(file, format string, args ...any) {
	r.edited = append(r.edited, editedFile{file: file, what: fmt.Sprintf(format, args...), judge: true})
}

// changed reports whether a file that was there before differs in more than its mode.
func (r *reach) changed(name string) bool {
	f := r.d.byName[name]
	return r.d.named[name] && (f == nil || !f.modeOnly)
}
