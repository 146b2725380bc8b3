package failure

import (
	"slices"
	"strings"
)

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
