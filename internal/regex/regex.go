// Package regex has regular expressions that are compiled when they are first asked: a process of ralph asks few of the
// many that it has, and some are long.
package regex

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Pattern is such an expression. Its methods are those of regexp.Regexp.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
	needs    []string   // texts of which one must be in a text; none: that is not known
	begins   *[256]bool // bytes with one of which a text must begin; nil: it need not, or that is not known
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
	p.once.Do(func() {
		p.compiled = regexp.MustCompile(p.text)
		p.needs, p.begins = needsOf(p.text)
	})
	return p.compiled
}

// may reports whether a text has what a match needs: nearly all texts that a pattern is asked about do not match it, and
// a search for a few letters takes a hundredth of the time.
func (p *Pattern) may(s string) bool {
	p.Regexp()
	if p.begins != nil && (s == "" || !p.begins[s[0]]) {
		return false
	}
	return len(p.needs) == 0 || slices.ContainsFunc(p.needs, func(text string) bool { return strings.Contains(s, text) })
}

// on is the expression for a text, or one that matches nothing.
func (p *Pattern) on(s string) *regexp.Regexp {
	if p.may(s) {
		return p.compiled
	}
	return never()
}

var never = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[^\s\S]`) })

// mostSome is how many texts are looked for. More would take as long as the pattern.
const mostSome = 6

// needsOf finds what a well-written pattern needs.
func needsOf(text string) (needs []string, begins *[256]bool) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, nil
	}
	if some := someOf(parsed); len(some) <= mostSome {
		needs = some
	}
	var first [256]bool
	if parsed.Op == syntax.OpConcat && parsed.Sub[0].Op == syntax.OpBeginText && !firstOf(parsed, &first) {
		begins = &first
	}
	return needs, begins
}

// firstOf marks the bytes that a match can begin with, and reports whether it can be empty.
func firstOf(re *syntax.Regexp, first *[256]bool) (empty bool) {
	switch re.Op {
	case syntax.OpLiteral:
		markRunes(first, re.Rune[0], re.Rune[0])
		for r := unicode.SimpleFold(re.Rune[0]); re.Flags&syntax.FoldCase != 0 && r != re.Rune[0]; r = unicode.SimpleFold(r) {
			markRunes(first, r, r)
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			markRunes(first, re.Rune[i], re.Rune[i+1])
		}
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		markRunes(first, 0, utf8.MaxRune)
		return false
	case syntax.OpCapture, syntax.OpPlus, syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		empty = firstOf(re.Sub[0], first)
		return empty || re.Op == syntax.OpStar || re.Op == syntax.OpQuest || re.Op == syntax.OpRepeat && re.Min == 0
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !firstOf(sub, first) })
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = firstOf(sub, first) || empty
		}
		return empty
	}
	return true
}

// markRunes marks the first bytes of characters.
func markRunes(first *[256]bool, from, to rune) {
	for c := range first {
		if c < utf8.RuneSelf && rune(c) >= from && rune(c) <= to || c >= utf8.RuneSelf && to >= utf8.RuneSelf {
			first[c] = true
		}
	}
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
