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

// String is the text of the expression.
func (p *Pattern) String() string { return p.text }

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

// prefilter are what a text must have for a pattern to match anywhere in it. They are asked first: nearly all texts that a
// pattern is asked about do not match it, and a look for a few letters takes a hundredth of the time.
type prefilter struct {
	// first are the signs that a text may begin with; nil: a match may begin elsewhere, or with any.
	first *[256]bool
	// some are texts of which one must be in it; none: that is not known.
	some []string
}

// mostSome is how many texts are looked for. More would take as long as the pattern.
const mostSome = 6

// needsOf finds what a well-written pattern needs.
func needsOf(text string) prefilter {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return prefilter{}
	}
	n := prefilter{some: someOf(parsed)}
	if len(n.some) > mostSome {
		n.some = nil
	}
	if anchored(parsed) {
		var first [256]bool
		if !beginnings(parsed, &first) && slices.Contains(first[:], false) {
			n.first = &first
		}
	}
	return n
}

// met reports whether a text has what a pattern needs.
func (n *prefilter) met(s string) bool {
	if n.first != nil && (s == "" || !n.first[s[0]]) {
		return false
	}
	for _, text := range n.some {
		if strings.Contains(s, text) {
			return true
		}
	}
	return len(n.some) == 0
}

// anchored reports whether a match can only begin where the text does.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText:
		return true
	case syntax.OpCapture:
		return anchored(re.Sub[0])
	case syntax.OpConcat:
		return len(re.Sub) > 0 && anchored(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !anchored(sub) })
	}
	return false
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

// beginnings notes the bytes that a match may begin with, and reports whether it may be empty as well.
func beginnings(re *syntax.Regexp, first *[256]bool) (empty bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) == 0 {
			return true
		}
		begins(re.Rune[0], first)
		if re.Flags&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(re.Rune[0]); r != re.Rune[0]; r = unicode.SimpleFold(r) {
				begins(r, first)
			}
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && r < utf8.RuneSelf; r++ {
				begins(r, first)
			}
			if re.Rune[i+1] >= utf8.RuneSelf {
				begins(re.Rune[i+1], first)
			}
		}
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return beginnings(re.Sub[0], first)
	case syntax.OpStar, syntax.OpQuest:
		beginnings(re.Sub[0], first)
		return true
	case syntax.OpRepeat:
		return beginnings(re.Sub[0], first) || re.Min == 0
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !beginnings(sub, first) })
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = beginnings(sub, first) || empty
		}
		return empty
	case syntax.OpNoMatch:
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for i := range first {
			first[i] = true
		}
		return false
	}
	return true // what stands for a place, not for a sign
}

// begins notes the byte that a character begins with. Of all that are not ASCII, every byte is noted: what is no
// character counts as one.
func begins(r rune, first *[256]bool) {
	if r < utf8.RuneSelf {
		first[r] = true
		return
	}
	for i := utf8.RuneSelf; i < len(first); i++ {
		first[i] = true
	}
}
