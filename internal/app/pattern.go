package app

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked: a process of ralph asks few of them, and some are long.
type pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// patterns are all of them, for the test that they are well written.
var patterns []*pattern

// lazy is the pattern of a text, which must be a regular expression. It is for variables of the package.
func lazy(text string) *pattern {
	p := &pattern{text: text}
	patterns = append(patterns, p)
	return p
}

func (p *pattern) re() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

func (p *pattern) FindStringSubmatch(s string) []string   { return p.re().FindStringSubmatch(s) }
func (p *pattern) FindSubmatch(b []byte) [][]byte         { return p.re().FindSubmatch(b) }
func (p *pattern) MatchString(s string) bool              { return p.re().MatchString(s) }
func (p *pattern) ReplaceAllString(s, with string) string { return p.re().ReplaceAllString(s, with) }
