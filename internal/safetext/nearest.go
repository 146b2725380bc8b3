package safetext

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the name that a word may have been meant to be: at most two letters away, longer or shorter at its
// end, or with letters left out. It is empty if there is none.
func Nearest[T ~string](word string, names []T) (best T) {
	word = sameWord(word)
	least := 3
	for _, name := range names {
		candidate := sameWord(string(name))
		d := levenshtein.Distance(word, candidate, nil)
		if len(word) > 3 && (strings.HasPrefix(candidate, word) || strings.HasPrefix(word, candidate) || shortFor(word, candidate)) {
			d = min(d, 2)
		}
		if d < least && d < len(candidate) {
			best, least = name, d
		}
	}
	return best
}

func sameWord(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(s))
}

// shortFor reports whether a word has the first three letters of a name and others of it, in their order.
func shortFor(word, name string) bool {
	if !strings.HasPrefix(name, word[:3]) {
		return false
	}
	for _, letter := range word {
		_, rest, found := strings.Cut(name, string(letter))
		if !found {
			return false
		}
		name = rest
	}
	return true
}
