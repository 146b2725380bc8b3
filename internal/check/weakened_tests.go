package check

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// maxSuites is how many files of tests are compared.
const maxSuites = 400

// suites are the files of tests that differ, as they were and as they are.
type suites struct{ pairs []pairOf }

// pairOf is one file of tests in both commits; one of them may be empty.
type pairOf struct {
	file     string
	old, new suite
	was, is  bool            // there
	oldLine  map[string]bool // lines, trimmed
	added    string          // the lines that are new
}

// suites reads the tests that differ. unread counts those that are beyond the limit.
func (d *change) suites(ctx context.Context) (s suites, unread int, err error) {
	for _, name := range d.names {
		l := languageOf(name)
		f := d.byName[name]
		if l == nil || !l.path.MatchString(name) || foreign.MatchString(name) || fixtures.MatchString(name) || f != nil && f.modeOnly {
			continue
		}
		if len(s.pairs) == maxSuites {
			unread++
			continue
		}
		p, err := d.pair(ctx, l, name)
		if err != nil {
			return s, unread, err
		}
		s.pairs = append(s.pairs, p)
	}
	return s, unread, nil
}

func (d *change) pair(ctx context.Context, l *language, name string) (p pairOf, err error) {
	before, was, err := d.before(ctx, name)
	if err != nil {
		return p, err
	}
	after, is, err := d.after(ctx, name)
	if err != nil {
		return p, err
	}
	p = pairOf{file: name, was: was, is: is, old: l.suiteOf(name, before), new: l.suiteOf(name, after), oldLine: map[string]bool{}}
	for text := range strings.Lines(before) {
		p.oldLine[strings.TrimSpace(text)] = true
	}
	var added strings.Builder
	for text := range strings.Lines(after) {
		if !p.oldLine[strings.TrimSpace(text)] {
			added.WriteString(text)
		}
	}
	p.added = added.String()
	return p, nil
}

// harms compares the tests of both commits. Tests are known by their names, in all files together, so that one that was moved is found.
// A test that failed before is not taken for one that became a case of a table: a word in quotes is soon written.
func (s suites) harms(failed failedBefore) (harms []harm) {
	lost, fresh := s.unmatched()
	kept := s.matched()
	for _, t := range lost {
		if t.skipped || t.inner && inLost(lost, t) {
			continue
		}
		if now := renamed(t, fresh); now != nil {
			kept = append(kept, [2]testCase{t, *now})
			continue
		}
		if h := s.gone(t); failed.has(h) || !s.folded(t) {
			harms = append(harms, h)
		}
	}
	moved := s.movable(fresh)
	for _, k := range kept {
		if h, ok := weaker(k[0], k[1], moved); ok {
			harms = append(harms, h)
		}
	}
	return append(harms, s.narrowed()...)
}

// unmatched are the tests whose names are in one of the commits only, each as often as it is missing in the other.
func (s suites) unmatched() (lost []testCase, fresh []*testCase) {
	left := map[string]int{}
	for _, p := range s.pairs {
		for _, t := range p.old.tests {
			left[t.name]++
		}
		for _, t := range p.new.tests {
			left[t.name]--
		}
	}
	for i := range s.pairs {
		p := &s.pairs[i]
		for _, t := range p.old.tests {
			if left[t.name] > 0 {
				left[t.name]--
				lost = append(lost, t)
			}
		}
		for j := range p.new.tests {
			if t := &p.new.tests[j]; left[t.name] < 0 {
				left[t.name]++
				fresh = append(fresh, t)
			}
		}
	}
	return lost, fresh
}

// matched are the tests that both commits have once, by name: the same file first, then any.
func (s suites) matched() (kept [][2]testCase) {
	type where struct{ file, name string }
	here, anywhere := map[where][]testCase{}, map[string][]testCase{}
	for _, p := range s.pairs {
		for _, t := range p.new.tests {
			here[where{p.file, t.name}] = append(here[where{p.file, t.name}], t)
			if !p.was {
				anywhere[t.name] = append(anywhere[t.name], t)
			}
		}
	}
	for _, p := range s.pairs {
		for _, t := range p.old.tests {
			now := here[where{p.file, t.name}]
			if len(now) > 0 {
				here[where{p.file, t.name}] = now[1:]
			} else if now = anywhere[t.name]; len(now) > 0 {
				anywhere[t.name] = now[1:]
			} else {
				continue
			}
			kept = append(kept, [2]testCase{t, now[0]})
		}
	}
	return kept
}

// inLost reports whether a part of a test was deleted with the whole.
func inLost(lost []testCase, t testCase) bool {
	for _, o := range lost {
		if !o.inner && o.file == t.file && o.line < t.line && t.line <= o.end {
			return true
		}
	}
	return false
}

// renamed finds the new test that is an old one under another name: at least six of ten lines are the same. It is taken then.
func renamed(t testCase, fresh []*testCase) *testCase {
	if len(t.body) == 0 {
		return nil
	}
	for _, n := range fresh {
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

var (
	tables   = regexp.MustCompile(`\bfor\b.*\brange\b|parametrize|\.each\b|#\[case|#\[values|@(?:Value|Csv|Method|Enum)Source|\[(?:InlineData|TestCase|DataRow)\b|[dD]ataProvider|->with\(|\bsubTest\(|\.each do\b|\bfor\b.*\bof\b`)
	literals = regexp.MustCompile(`"[^"\s]*"|'[^'\s]*'|\b\d+(?:\.\d+)?\b`)
)

// folded reports whether a test that is gone has become a case of a table: its name stands there in quotes, or what it was about, the
// literals in it, is all among the new lines of a file that has gained a loop over cases.
func (s suites) folded(t testCase) bool {
	for _, p := range s.pairs {
		for text := range strings.Lines(p.added) {
			if code := strings.TrimSpace(text); !strings.HasPrefix(code, "//") && !strings.HasPrefix(code, "#") && inQuotes(code, t.name) {
				return true
			}
		}
		if p.file != t.file || !tables.MatchString(p.added) {
			continue
		}
		about := literals.FindAllString(strings.Join(t.body, "\n"), 100)
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

// gone says that a test was deleted, or what was made of it.
func (s suites) gone(t testCase) harm {
	h := harm{kind: deleted, file: t.file, test: t.name, message: "deleted " + quoteName(t.name)}
	if t.row {
		h.message, h.minor = "deleted the case "+quoteName(t.name), true
	}
	for _, p := range s.pairs {
		if p.file != t.file {
			continue
		}
		if !p.is {
			h.message += ", with its file"
		}
		for _, name := range p.new.plain {
			if len(t.name) > 3 && strings.Contains(strings.ToLower(name), strings.ToLower(t.name)) {
				h.kind, h.message = skipped, quoteName(t.name)+" is there as "+quoteName(name)+", which is not run as a test"
			}
		}
	}
	return h
}

// quoteName writes a test's name: an identifier as it is, a sentence in quotes.
func quoteName(name string) string {
	for i := range len(name) {
		if !wordByte(name[i]) {
			return quote(name)
		}
	}
	return shorten(name, 120)
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
func weaker(old, now testCase, moved map[string]int) (harm, bool) {
	h := harm{file: now.file, line: now.line, test: old.name}
	name := quoteName(old.name)
	fewer := missingFrom(old.asserts, now.asserts, moved)
	switch {
	case old.row:
		return h, false
	case now.skipped && !old.skipped:
		h.kind, h.message = skipped, name+" is skipped now"
	case len(old.body) > 0 && len(now.body) == 0:
		h.kind, h.message = emptied, name+" has nothing in it now"
	case len(old.asserts) > 0 && len(now.asserts) == 0 && fewer > 0 && len(now.body) <= 2:
		h.kind, h.message = emptied, name+" asserts nothing any more"
	case now.trivial > old.trivial && !old.inner:
		h.kind, h.message = unasserted, name+" asserts what is always true"
	case fewer > 0 && !old.inner:
		h.kind, h.message = unasserted, fmt.Sprintf("%s has %d fewer assertions", name, fewer)
		if fewer == 1 {
			h.message = name + " has one assertion fewer"
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

// portable matches the build lines of Go tests that run wherever agents and checks do.
var portable = regexp.MustCompile(`^//(?:go:build| \+build) (?:(?:unix|linux|darwin \|\| linux|linux \|\| darwin|!windows|!plan9|!js|!wasip1|!wasm)(?: && |$))+$`)

// narrowed names new lines that keep many tests from running, and those that run one test alone.
func (s suites) narrowed() (harms []harm) {
	for _, p := range s.pairs {
		for _, l := range p.new.narrow {
			if p.oldLine[strings.TrimSpace(l.text)] || portable.MatchString(l.text) || !p.was && !only.MatchString(l.text) {
				continue
			}
			harms = append(harms, harm{kind: narrowed, file: p.file, line: l.n, message: "keeps tests from running: " + quote(l.text)})
		}
	}
	return harms
}
