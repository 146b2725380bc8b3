// Package regex has regular expressions that are compiled when they are first asked: a process of ralph asks few of the
// many that it has, and some are long.
package regex

import (
	"regexp"
	"slices"
	"strings"
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

// Regexp is the expression itself. It panics if the text is not a regular expression.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

// MatchString is regexp.Regexp's.
func (p *Pattern) MatchString(s string) bool {
	if matches, known := p.ask(s); known {
		return matches
	}
	return p.Regexp().MatchString(s)
}

// ask reports whether the pattern matches a text, and whether its machine knows.
func (p *Pattern) ask(s string) (matches, known bool) {
	p.begun.Do(func() { p.machine = newMachine(p.text) })
	return p.machine.matches(s)
}

// Set is several patterns that are asked together, which takes no longer than one of them.
type Set struct {
	each []*Pattern
	any  *Pattern
}

// SetOf is the set of these patterns.
func SetOf(each ...*Pattern) *Set {
	texts := make([]string, len(each))
	for i, p := range each {
		texts[i] = "(?:" + p.text + ")"
	}
	return &Set{each, Made(strings.Join(texts, "|"))}
}

// MatchString reports whether one of the patterns matches a text.
func (s *Set) MatchString(text string) bool {
	if matches, known := s.any.ask(text); known {
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

// on is the expression for a text, or one that matches nothing: nearly all texts do not match.
func (p *Pattern) on(s string) *regexp.Regexp {
	if p.MatchString(s) {
		return p.Regexp()
	}
	return never()
}

var never = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[^\s\S]`) })

// FindString is regexp.Regexp's.
func (p *Pattern) FindString(s string) string { return p.on(s).FindString(s) }

// FindStringIndex is regexp.Regexp's.
func (p *Pattern) FindStringIndex(s string) []int { return p.on(s).FindStringIndex(s) }

// FindStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.on(s).FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindStringSubmatchIndex(s string) []int { return p.on(s).FindStringSubmatchIndex(s) }

// FindAllString is regexp.Regexp's.
func (p *Pattern) FindAllString(s string, n int) []string { return p.on(s).FindAllString(s, n) }

// FindAllStringIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.on(s).FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.on(s).FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.on(s).FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is regexp.Regexp's, which would copy also a text that has no match.
func (p *Pattern) ReplaceAllString(s, with string) string {
	if p.MatchString(s) {
		return p.Regexp().ReplaceAllString(s, with)
	}
	return s
}

// ReplaceAllStringFunc is regexp.Regexp's.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.on(s).ReplaceAllStringFunc(s, f)
}
