// Package regex has regular expressions that are compiled when they are first asked: a process of ralph asks few of the
// many that it has, and some are long.
package regex

import (
	"regexp"
	"slices"
	"sync"
)

// Pattern is such an expression. Its methods are those of regexp.Regexp.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
	begun    sync.Once
	machine  *machine
}

var all []*Pattern // that Lazy has made, for the test that they are well written

// Lazy is the pattern of a text, which must be a regular expression. It is for variables of a package.
func Lazy(text string) *Pattern {
	p := Made(text)
	all = append(all, p)
	return p
}

// Made is a pattern that is made while the program runs.
func Made(text string) *Pattern { return &Pattern{text: text} }

// UnmarshalText reads the text of a pattern.
func (p *Pattern) UnmarshalText(text []byte) error {
	p.text = string(text)
	return nil
}

// String is the text of the expression.
func (p *Pattern) String() string { return p.text }

// Regexp is the expression itself. It panics when the text is none.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

// MatchString is regexp.Regexp's.
func (p *Pattern) MatchString(s string) bool {
	p.begun.Do(func() { p.machine = newMachine(p) })
	if matches, known := p.machine.matches(s); known {
		return matches
	}
	return p.Regexp().MatchString(s)
}

// Set is several patterns that are asked at once, which takes no longer than one of them.
type Set struct {
	each    []*Pattern
	begun   sync.Once
	machine *machine
}

// SetOf is the set of these patterns.
func SetOf(each ...*Pattern) *Set { return &Set{each: each} }

// MatchString reports whether one of the patterns matches a text.
func (s *Set) MatchString(text string) bool {
	s.begun.Do(func() { s.machine = newMachine(s.each...) })
	if matches, known := s.machine.matches(text); known {
		return matches
	}
	return slices.ContainsFunc(s.each, func(p *Pattern) bool { return p.MatchString(text) })
}

// First is the first of the patterns that matches a text; nil: none does.
func (s *Set) First(text string) *Pattern {
	if s.MatchString(text) {
		for _, p := range s.each {
			if p.MatchString(text) {
				return p
			}
		}
	}
	return nil
}

// on is the expression for a text, or one that matches nothing: nearly all texts that a pattern is asked about do not
// match it.
func (p *Pattern) on(s string) *regexp.Regexp {
	if p.MatchString(s) {
		return p.Regexp()
	}
	return never()
}

var never = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[^\s\S]`) })
