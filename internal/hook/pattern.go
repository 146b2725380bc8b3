package hook

import (
	"regexp"
	"sync"
)

// pattern is an expression that is compiled when it is first asked: a hook is started often and asks few of them.
type pattern struct {
	expression string
	once       sync.Once
	compiled   *regexp.Regexp
}

func (p *pattern) re() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.expression) })
	return p.compiled
}

// MatchString is regexp.Regexp's.
func (p *pattern) MatchString(s string) bool { return p.re().MatchString(s) }
