// Package regex has regular expressions that are compiled when they are first asked: a process of ralph asks few of the
// many that it has, and some are long.
package regex

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pattern is such an expression. Its methods are those of regexp.Regexp.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
	needs    []string // texts of which one must be in a text; none: that is not known
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
	p.once.Do(func() { p.compiled, p.needs = regexp.MustCompile(p.text), needsOf(p.text) })
	return p.compiled
}

// on is the expression for a text, or one that matches nothing when the text lacks what a match needs: nearly all texts
// that a pattern is asked about do not match it, and a search for a few letters takes a hundredth of the time.
func (p *Pattern) on(s string) *regexp.Regexp {
	p.Regexp()
	if len(p.needs) == 0 || slices.ContainsFunc(p.needs, func(text string) bool { return strings.Contains(s, text) }) {
		return p.compiled
	}
	return never()
}

var never = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[^\s\S]`) })

// mostSome is how many texts are looked for. More would take as long as the pattern.
const mostSome = 6

// needsOf finds what a well-written pattern needs.
func needsOf(text string) []string {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	if some := someOf(parsed); len(some) <= mostSome {
		return some
	}
	return nil
}

// someOf are texts of which each match holds one; none: that cannot be told.
func someOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) { // a byte that is no character is one
			return []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		return signs(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return someOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return someOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if some := someOf(sub); better(some, best) {
				best = some
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some := someOf(sub)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		return all
	}
	return nil
}

// signs are the members of a class that has few.
func signs(ranges []rune) (all []string) {
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i])+len(all) >= mostSome {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError {
				return nil
			}
			all = append(all, string(r))
		}
	}
	return all
}

// better reports whether it is better to look for some texts than for others: those that are longer are rarer.
func better(some, best []string) bool {
	if len(some) == 0 || len(some) > mostSome {
		return false
	}
	return len(best) == 0 || shortest(some) > shortest(best) || shortest(some) == shortest(best) && len(some) < len(best)
}

func shortest(texts []string) int {
	n := len(texts[0])
	for _, text := range texts {
		n = min(n, len(text))
	}
	return n
}
