package check

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// WeakenedCheck is the name of the check of weakened tests.
const WeakenedCheck = "weakened tests"

// Weakened says no when the run made it easier to pass: tests deleted, skipped, emptied or kept from running, assertions removed or made
// trivial, thresholds lowered, rules switched off, snapshots rewritten. It reads the tests of both commits, so that what was only moved,
// renamed or folded into a table is not held against the agent. It knows Go, Python, JavaScript and TypeScript, Rust, Java and Kotlin, Ruby,
// PHP and C#, and these only as they are commonly written. What it cannot see: an expected value that was changed, an assertion that was
// moved into a helper whose name does not tell, tests that are made at run time. It is a witness for the reviewer, who looks with
// other eyes; severity says when it blocks by itself.
//
// It must stand after the commands in the list, since it looks at what they said.
type Weakened struct {
	Changes *Changes
	Hard    bool // it blocks whatever it finds
	Alone   bool // nobody independent looks at the change: the run has no reviewer
}

// harm is one thing that was made weaker.
type harm struct {
	kind    harmKind
	file    string
	line    int // in the new file; 0: the line is gone, or it is about the whole file
	test    string
	message string
	minor   bool // a case of a table: rows come and go
}

type harmKind int

const (
	deleted harmKind = iota
	skipped
	emptied
	narrowed
	lowered
	unasserted
	silenced
	rewritten
	harmKinds
)

// counted says what there are n of, of each kind.
var counted = [harmKinds][2]string{
	{"test deleted", "tests deleted"}, {"test skipped", "tests skipped"}, {"test emptied", "tests emptied"},
	{"place where tests are kept from running", "places where tests are kept from running"}, {"threshold or rule lowered", "thresholds or rules lowered"},
	{"test with fewer assertions", "tests with fewer assertions"}, {"warning silenced", "warnings silenced"}, {"snapshot rewritten", "snapshots rewritten"},
}

// Name is the check's name in verdicts.
func (*Weakened) Name() string { return WeakenedCheck }

// Severity is soft, unless what is found makes it hard.
func (w *Weakened) Severity() loop.Severity {
	if w.Hard {
		return loop.Hard
	}
	return loop.Soft
}

// Needs a claim: on the way there, tests may be in pieces.
func (*Weakened) Needs() Need { return SomeWork | AClaim }

// Run looks through the change.
func (w *Weakened) Run(ctx context.Context, at At) (loop.Verdict, error) {
	d, err := w.Changes.of(ctx, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	failed := failures(at)
	harms, partial, err := w.look(ctx, d, failed)
	if err != nil {
		return loop.Verdict{}, err
	}
	if len(harms) == 0 {
		return loop.Verdict{Pass: true, Reason: partial}, nil
	}
	v := loop.Verdict{Reason: "the change weakens what judges it: " + count(harms)}
	var why string
	if v.Severity, why = w.severity(harms, d, at, failed); why != "" {
		v.Reason += "; " + why
	}
	if partial != "" {
		v.Reason += "; " + partial
	}
	v.Output = loop.Excerpt(listed(harms))
	for _, h := range harms[:min(len(harms), loop.MaxFindings)] {
		v.Findings = append(v.Findings, loop.Finding{File: h.file, Line: h.line, Test: h.test, Level: "warning", Message: h.message})
	}
	v.Tell = "What judges the work was made weaker:\n\n" + v.Output + "\nBring it back, and make the code pass it as it was. If the task itself asks for this, say so and why in your last message."
	return v, nil
}

// look finds everything that was made weaker, in the order of kinds and files.
func (w *Weakened) look(ctx context.Context, d *change, failed failedBefore) (harms []harm, partial string, err error) {
	tests, unread, err := d.suites(ctx)
	if err != nil {
		return nil, "", err
	}
	harms = tests.harms(failed)
	settings, err := d.lowered(ctx)
	if err != nil {
		return nil, "", err
	}
	harms = append(harms, settings...)
	harms = append(harms, d.silenced()...)
	harms = append(harms, d.snapshots()...)
	slices.SortStableFunc(harms, func(a, b harm) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	if unread > 0 {
		return harms, fmt.Sprintf("%d further files of tests were not looked through", unread), nil
	}
	return harms, d.partial, nil
}

// severity says whether what was found blocks, and why. The rule: weakened tests are soft, because a maintainer may want them so, and the
// reviewer is told. They are hard when
//   - the setting says so;
//   - a test that was deleted, skipped or emptied had failed, on the base commit or earlier in this run: that is no repair;
//   - a hard check failed before and passes now, and nothing but tests and settings changed: then the weakening is what made it pass;
//   - nobody independent looks at the change. Removed assertions and cases of tables, silenced warnings and rewritten snapshots stay soft
//     even then.
func (w *Weakened) severity(harms []harm, d *change, at At, failed failedBefore) (s loop.Severity, why string) {
	grave := false
	for _, h := range harms {
		if h.kind <= emptied && h.test != "" && failed.has(h) {
			return loop.Hard, fmt.Sprintf("%s failed before, in this run or on the base commit", safetext.Shorten(h.test, 100))
		}
		grave = grave || h.kind <= lowered && !h.minor
	}
	switch {
	case w.Hard:
		return loop.Hard, ""
	case grave && healed(at) && d.onlyJudges():
		return loop.Hard, "a check that failed before passes now, and nothing but tests and settings has changed"
	case grave && w.Alone:
		return loop.Hard, "no reviewer looks at the change"
	}
	return loop.Soft, ""
}

// healed reports whether a hard check that failed on the base commit or earlier in this run passes now.
func healed(at At) bool {
	passes := map[string]bool{}
	for _, v := range at.So {
		passes[v.Check] = v.Pass && v.Skipped == "" && v.Severity == loop.Hard
	}
	for _, v := range earlier(at) {
		if v.Blocks() && v.Skipped == "" && passes[v.Check] && v.Check != loop.ClaimCheck && v.Check != loop.AgentCheck && v.Check != loop.DiffCheck {
			return true
		}
	}
	return false
}

// onlyJudges reports whether the change touches nothing but what judges: tests, settings, prose.
func (d *change) onlyJudges() bool {
	for _, name := range d.names {
		own := isTest(name) || isSetting(name) || prose.MatchString(name) || fixtures.MatchString(name) || matchesAny(keptFiles, name)
		if !own {
			return false
		}
	}
	return true
}

// earlier are the verdicts of the base commit and of all iterations but this one.
func earlier(at At) (verdicts []loop.Verdict) {
	verdicts = append(verdicts, at.State.Baseline...)
	for _, it := range at.State.Iterations {
		if it.N != at.Iteration.N {
			verdicts = append(verdicts, it.Verdicts...)
		}
	}
	return verdicts
}

func count(harms []harm) string {
	var n [harmKinds]int
	for _, h := range harms {
		n[h.kind]++
	}
	var parts []string
	for kind, names := range counted {
		switch {
		case n[kind] == 1:
			parts = append(parts, "1 "+names[0])
		case n[kind] > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], names[1]))
		}
	}
	return strings.Join(parts, ", ")
}

func listed(harms []harm) string {
	var b strings.Builder
	for _, h := range harms {
		where := shownName(h.file)
		if h.line > 0 {
			where += fmt.Sprintf(":%d", h.line)
		}
		fmt.Fprintf(&b, "%s: %s\n", where, h.message)
	}
	return b.String()
}

// quote writes foreign text into a message.
func quote(text string) string {
	return fmt.Sprintf("%q", safetext.Shorten(strings.TrimSpace(text), 120))
}

// snapshots names recorded expectations that were rewritten or removed: nothing tells whether the new ones are right.
func (d *change) snapshots() (harms []harm) {
	for _, f := range d.files {
		ext := path.Ext(f.name)
		if ext != ".snap" && ext != ".golden" && ext != ".approved" && !strings.Contains("/"+f.name, "/__snapshots__/") || f.added || foreign.MatchString(f.name) {
			continue
		}
		old := f.binary || f.deleted
		for _, h := range f.hunks {
			old = old || len(h.old) > 0
		}
		if old {
			harms = append(harms, harm{kind: rewritten, file: f.name, message: "the snapshot was rewritten"})
		}
	}
	return harms
}
