package diffscan

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// renamed finds the new test that is an old one under another name: at least six of ten lines are the same. It is taken
// then.
func renamed(t testCase, fresh []*testCase) *testCase {
	if len(t.body) == 0 {
		return nil
	}
	for _, n := range fresh[:min(len(fresh), maxLost)] {
		if n.name == "" || t.row != n.row || t.row && t.file != n.file {
			continue
		}
		has := map[string]int{}
		for _, text := range n.body {
			has[text]++
		}
		same := 0
		for _, text := range t.body {
			if has[text] > 0 {
				has[text]--
				same++
			}
		}
		if same*10 >= len(t.body)*6 || t.row && len(n.body) > 0 {
			now := *n
			n.name = ""
			return &now
		}
	}
	return nil
}

// folded reports whether a test that is gone has become a case of a table: its name stands there in quotes, or what it
// was about, the literals in it, is all among the new lines of a file that has gained a loop over cases.
func (s suites) folded(t testCase) bool {
	for _, p := range s.pairs {
		if inQuotes(p.added, t.name) {
			return true
		}
		if p.file != t.file || !p.table {
			continue
		}
		about := literals.FindAllString(strings.Join(t.body, "\n"), 30)
		found := 0
		for _, literal := range about {
			if strings.Contains(p.added, strings.Trim(literal, `"'`)) {
				found++
			}
		}
		if len(about) > 0 && found == len(about) {
			return true
		}
	}
	return false
}

func inQuotes(text, name string) bool {
	for _, q := range []string{`"`, `'`, "`"} {
		if strings.Contains(text, q+name+q) {
			return true
		}
	}
	return false
}

// movable are the assertions that tests share or new tests make: what was moved there is not lost.
func (s suites) movable(fresh []*testCase) map[string]int {
	moved := map[string]int{}
	for _, p := range s.pairs {
		for _, text := range p.new.loose {
			moved[text]++
		}
		for _, text := range p.old.loose {
			moved[text]--
		}
	}
	for _, t := range fresh {
		if t.name == "" { // taken as the new name of an old one
			continue
		}
		for _, text := range t.asserts {
			moved[text]++
		}
	}
	return moved
}

// weaker compares one test with what became of it.
func weaker(old, now testCase, moved map[string]int) (Weakening, bool) {
	h := Weakening{File: now.file, Line: now.line, Test: old.name}
	name := quoteName(old.name)
	fewer := missingFrom(old.asserts, now.asserts, moved)
	switch {
	case old.row:
		return h, false
	case now.skipped && !old.skipped:
		h.kind, h.Message = skipped, name+" is skipped now"
	case len(old.body) > 0 && len(now.body) == 0:
		h.kind, h.Message = emptied, name+" has nothing in it now"
	case len(old.asserts) > 0 && len(now.asserts) == 0 && fewer > 0 && len(now.body) <= 2:
		h.kind, h.Message = emptied, name+" asserts nothing any more"
	case now.trivial > old.trivial && !old.inner:
		h.kind, h.Message = unasserted, name+" asserts what is always true"
	case fewer > 0 && !old.inner:
		h.kind, h.Message = unasserted, fmt.Sprintf("%s has %d fewer assertions", name, fewer)
		if fewer == 1 {
			h.Message = name + " has one assertion fewer"
		}
	default:
		return h, false
	}
	return h, true
}

// missingFrom is how many assertions a test has fewer, those aside that stand elsewhere now.
func missingFrom(old, now []string, moved map[string]int) int {
	fewer := len(old) - len(now)
	has := map[string]int{}
	for _, text := range now {
		has[text]++
	}
	for _, text := range old {
		switch {
		case fewer <= 0:
			return 0
		case has[text] > 0:
			has[text]--
		case moved[text] > 0:
			moved[text]--
			fewer--
		}
	}
	return max(fewer, 0)
}

// snapshots names recorded expectations that were rewritten or removed: nothing tells whether the new ones are right.
func (d *Change) snapshots() (weakenings []Weakening) {
	for _, f := range d.files {
		ext := path.Ext(f.name)
		if ext != ".snap" && ext != ".golden" && ext != ".approved" && !strings.Contains("/"+f.name, "/__snapshots__/") ||
			f.added || foreign.MatchString(f.name) {
			continue
		}
		old := f.binary || f.deleted
		for _, h := range f.hunks {
			old = old || len(h.old) > 0
		}
		if old {
			weakenings = append(weakenings, Weakening{kind: rewritten, File: f.name, Message: "the snapshot was rewritten"})
		}
	}
	return weakenings
}

// Bounds of what is compared: a change may be made to keep us busy.
const (
	maxSuites = 400    // files of tests
	maxTests  = 20_000 // tests in all of them

	maxLost = 200 // tests that are gone and looked for elsewhere; those beyond are called deleted
)

// suites are the files of tests that differ, as they were and as they are.
type suites struct{ pairs []pairOf }

// pairOf is one file of tests in both commits; one of them may be empty.
type pairOf struct {
	file     string
	old, new suite
	was, is  bool            // there
	oldLine  map[string]bool // lines, trimmed
	added    string          // the lines that are new, without comments
	table    bool            // there is a loop over cases among them
}

// suites reads the tests that differ. unread counts those that are beyond the limit.
func (d *Change) suites(ctx context.Context) (s suites, unread int, err error) {
	tests := 0
	for _, name := range d.Names {
		l := languageOf(name)
		f := d.byName[name]
		if l == nil || !l.path.MatchString(name) || foreign.MatchString(name) || fixtures.MatchString(name) || f != nil &&
			f.modeOnly {
			continue
		}
		if len(s.pairs) == maxSuites || tests > maxTests {
			unread++
			continue
		}
		p, err := d.pair(ctx, l, name)
		if err != nil {
			return s, unread, err
		}
		tests += len(p.old.tests) + len(p.new.tests)
		s.pairs = append(s.pairs, p)
	}
	return s, unread, nil
}

func (d *Change) pair(ctx context.Context, l *language, name string) (p pairOf, err error) {
	before, was, err := d.before(ctx, name)
	if err != nil {
		return p, err
	}
	after, is, err := d.after(ctx, name)
	if err != nil {
		return p, err
	}
	p = pairOf{file: name, was: was, is: is, old: l.suiteOf(name, before), new: l.suiteOf(name, after),
		oldLine: map[string]bool{}}
	for text := range strings.Lines(before) {
		p.oldLine[strings.TrimSpace(text)] = true
	}
	var added strings.Builder
	for text := range strings.Lines(after) {
		if code := strings.TrimSpace(text); !p.oldLine[code] && !strings.HasPrefix(code, "//") &&
			!strings.HasPrefix(code, "#") {
			added.WriteString(text)
		}
	}
	p.added = added.String()
	p.table = tables.MatchString(p.added)
	return p, nil
}

var (
	tables = lazy(
		`\bfor\b.*\brange\b|parametrize|\.each\b|#\[case|#\[values|@(?:Value|Csv|Method|Enum)Source|\[(?:InlineData|TestCase|DataRow)\b|[dD]ataProvider|->with\(|\bsubTest\(|\.each do\b|\bfor\b.*\bof\b`)
	literals = lazy(`"[^"\s]*"|'[^'\s]*'|\b\d+(?:\.\d+)?\b`)
)
