package check

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bounds of what is compared: a change may be made to keep us busy.
const (
	maxSuites = 400    // files of tests
	maxTests  = 20_000 // tests in all of them
	maxOfFile = 4_000  // tests in one of them
	maxLost   = 200    // tests that are gone and looked for elsewhere; those beyond are called deleted
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
func (d *change) suites(ctx context.Context) (s suites, unread int, err error) {
	tests := 0
	for _, name := range d.names {
		l := languageOf(name)
		f := d.byName[name]
		if l == nil || !l.path.MatchString(name) || foreign.MatchString(name) || fixtures.MatchString(name) || f != nil && f.modeOnly {
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
		if code := strings.TrimSpace(text); !p.oldLine[code] && !strings.HasPrefix(code, "//") && !strings.HasPrefix(code, "#") {
			added.WriteString(text)
		}
	}
	p.added = added.String()
	p.table = tables.MatchString(p.added)
	return p, nil
}

// harms compares the tests of both commits. Tests are known by their names, in all files together, so that one that was moved is found.
// A test that failed before is not taken for one that became a case of a table: a word in quotes is soon written.
func (s suites) harms(failed failedBefore) (harms []harm) {
	lost, fresh := s.unmatched()
	kept := s.matched()
	for i, t := range lost {
		if t.skipped || t.inner && inLost(lost, t) {
			continue
		}
		if i >= maxLost {
			harms = append(harms, harm{kind: deleted, file: t.file, test: t.name, message: "deleted " + quoteName(t.name), minor: t.row})
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
	return safetext.Shorten(name, 120)
}

// portable matches the build lines of Go tests that run wherever agents and checks do.
var portable = lazy(`^//(?:go:build| \+build) (?:(?:unix|linux|darwin \|\| linux|linux \|\| darwin|!windows|!plan9|!js|!wasip1|!wasm)(?: && |$))+$`)

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
