package failure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }

// patterns are several of them.
func patterns(texts ...string) *regex.Set {
	var all []*pattern
	for _, text := range texts {
		all = append(all, lazy(text))
	}
	return regex.SetOf(all...)
}

// without are the lines but those that are of a kind.
func without(lines []string, kind func(string) bool) []string {
	var left []string
	for _, line := range lines {
		if !kind(line) {
			left = append(left, line)
		}
	}
	return left
}

func startsAny(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func holdsAny(line string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
}

// number reads a decimal number; anything else, or one too long, is 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
