// Package regex has regular expressions that are compiled when they are first asked: a process of ralph asks few of the
// many that it has, and some are long.
package regex

import (
	"regexp"
	"sync"
)

// Pattern is such an expression. Its methods are those of regexp.Regexp.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
	needs    prefilter
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

// Regexp is the expression itself. It panics when the text is none.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled, p.needs = regexp.MustCompile(p.text), needsOf(p.text) })
	return p.compiled
}

// may reports whether a text may hold a match.
func (p *Pattern) may(s string) bool {
	p.Regexp()
	return p.needs.met(s)
}
