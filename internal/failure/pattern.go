package failure

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked: most runs of ralph read no failure, and there are many.
type pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// patterns are all of them, for the test that they are well written.
var patterns []*pattern

// lazy is the pattern of a text, which must be a regular expression. It is for variables of the package.
func lazy(text string) *pattern {
	p := lazily(text)
	patterns = append(patterns, p)
	return p
}

// lazily is lazy for a pattern that is made while the program runs.
func lazily(text string) *pattern { return &pattern{text: text} }

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

func (p *pattern) MatchString(s string) bool              { return p.get().MatchString(s) }
func (p *pattern) FindString(s string) string             { return p.get().FindString(s) }
func (p *pattern) FindStringSubmatch(s string) []string   { return p.get().FindStringSubmatch(s) }
func (p *pattern) FindStringSubmatchIndex(s string) []int { return p.get().FindStringSubmatchIndex(s) }
func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.get().FindAllStringIndex(s, n)
}

func (p *pattern) ReplaceAllString(s, with string) string { return p.get().ReplaceAllString(s, with) }
func (p *pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.get().ReplaceAllStringFunc(s, f)
}
func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.get().FindAllStringSubmatch(s, n)
}
func (p *pattern) FindStringIndex(s string) []int { return p.get().FindStringIndex(s) }
