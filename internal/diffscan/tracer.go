package diffscan

import (
	"context"
	"path"
	"strings"
)

// How far a check's line is followed.
const (
	maxSteps = 3   // from a line to a script that it runs, to one that this runs …
	maxSeen  = 300 // commands and files in all
	maxDirs  = 8   // in which a command may stand
)

// EditedFile is a file that a check runs and that the change has edited.
type EditedFile struct {
	File    string
	Part    string // what of it, such as `the recipe of "test"`; empty: the file as a whole
	Deleted bool
	Judge   bool // it is there to judge; else it may be what is judged
}

// tracer follows what one check's line runs, and keeps what of it was edited.
type tracer struct {
	ctx    context.Context // of the one call of Edited that the tracer lives for
	d      *Change
	seen   map[string]bool
	edited []EditedFile
	err    error
}

// judging matches the path of a script that is there to judge by its own name or that of a directory. A check also runs
// the program that it checks ("node app.js --selftest"), and that is the work.
var judging = lazy(
	`(?i)(?:^|[/_.-])(?:tests?|testing|specs?|checks?|checking|ci|lint|linters?|verify|verification|validate|validation|e2e|smoke|asserts?|gates?|guards?|guardrails?|coverage|cov|build|scripts?|tools?|hack|make|mage|magefile|nox|noxfile|tox|conftest|runtests?|tasks?|taskfile|rakefile|gruntfile|gulpfile|justfile|makefile|pre-?commit|presubmit)(?:[/_.-]|\d|$)`)

// first reports whether something was not looked at before, and remembers it.
func (r *tracer) first(what ...string) bool {
	key := strings.Join(what, "\x00")
	if r.seen[key] || len(r.seen) >= maxSeen || r.err != nil {
		return false
	}
	r.seen[key] = true
	return true
}

// base reads a file as it was before the run.
func (r *tracer) base(name string) (text string, ok bool) {
	if r.err != nil {
		return "", false
	}
	text, ok, r.err = r.d.before(r.ctx, name)
	return text, ok
}

func (r *tracer) head(name string) (text string, ok bool) {
	if r.err != nil {
		return "", false
	}
	text, ok, r.err = r.d.after(r.ctx, name)
	return text, ok
}

// found notes a file that was edited. A part of a file is a recipe or a script, which is nothing but a judge, whatever
// its file is called.
func (r *tracer) found(f EditedFile) {
	f.Judge = f.Judge || f.Part != "" || judging.MatchString(f.File)
	r.edited = append(r.edited, f)
}

// changed reports whether a file that was there before differs in more than its mode.
func (r *tracer) changed(name string) bool {
	f := r.d.byName[name]
	return r.d.named[name] && (f == nil || !f.modeOnly)
}

// inTree joins a directory and a path; ok is false when that leads out of the tree.
func inTree(dir, name string) (string, bool) {
	if name == "" || path.IsAbs(name) || strings.ContainsAny(name, "\x00\n") || len(name) > 1000 {
		return "", false
	}
	to := path.Join(dir, name)
	return to, to != ".." && !strings.HasPrefix(to, "../")
}
