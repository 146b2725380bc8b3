package diffscan

import (
	"slices"
	"strings"
)

// weakenings compares the tests of both commits. Tests are known by their names, in all files together, so that one
// that was moved is found. A test that failed before is not taken for one that became a case of a table: a word in
// quotes is soon written.
func (s suites) weakenings(failed Failed) (weakenings []Weakening) {
	lost, fresh := s.unmatched()
	kept := s.matched()
	for i, t := range lost {
		if t.skipped || t.inner && inLost(lost, t) {
			continue
		}
		if i >= maxLost {
			weakenings = append(weakenings,
				Weakening{kind: deleted, File: t.file, Test: t.name, Message: "deleted " + quoteName(t.name), minor: t.row})
			continue
		}
		if now := renamed(t, fresh); now != nil {
			kept = append(kept, [2]testCase{t, *now})
			continue
		}
		if h := s.gone(t); failed(h.File, h.Test) || !s.folded(t) {
			weakenings = append(weakenings, h)
		}
	}
	moved := s.movable(fresh)
	for _, k := range kept {
		if h, ok := weaker(k[0], k[1], moved); ok {
			weakenings = append(weakenings, h)
		}
	}
	return append(weakenings, s.narrowed()...)
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
	return slices.ContainsFunc(lost, func(o testCase) bool {
		return !o.inner && o.file == t.file && o.line < t.line && t.line <= o.end
	})
}

// gone says that a test was deleted, or what was made of it.
func (s suites) gone(t testCase) Weakening {
	h := Weakening{kind: deleted, File: t.file, Test: t.name, Message: "deleted " + quoteName(t.name)}
	if t.row {
		h.Message, h.minor = "deleted the case "+quoteName(t.name), true
	}
	for _, p := range s.pairs {
		if p.file != t.file {
			continue
		}
		if !p.is {
			h.Message += ", with its file"
		}
		for _, name := range p.new.plain {
			if len(t.name) > 3 && strings.Contains(strings.ToLower(name), strings.ToLower(t.name)) {
				h.kind, h.Message = skipped, quoteName(t.name)+" is there as "+quoteName(name)+", which is not run as a test"
			}
		}
	}
	return h
}

// portable matches the build lines of Go tests that run wherever agents and checks do.
var portable = lazy(
	`^//(?:go:build| \+build) (?:(?:unix|linux|darwin \|\| linux|linux \|\| darwin|!windows|!plan9|!js|!wasip1|!wasm)(?: && |$))+$`)

// narrowed names new lines that keep many tests from running, and those that run one test alone.
func (s suites) narrowed() (weakenings []Weakening) {
	for _, p := range s.pairs {
		for _, l := range p.new.narrow {
			if p.oldLine[strings.TrimSpace(l.text)] || portable.MatchString(l.text) || !p.was && !only.MatchString(l.text) {
				continue
			}
			weakenings = append(weakenings,
				Weakening{kind: narrowed, File: p.file, Line: l.n, Message: "keeps tests from running: " + quote(l.text)})
		}
	}
	return weakenings
}
