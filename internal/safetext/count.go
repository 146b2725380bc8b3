// Package safetext makes foreign text harmless, and cuts, counts and quotes text. Every such helper is here once.
package safetext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Count is a number of things whose plural ends with an s: "1 file", "2 files".
func Count(n int, thing string) string { return Counted(n, thing, thing+"s") }

// Counted is a number of things: "1 branch", "2 branches".
func Counted(n int, one, many string) string { return strconv.Itoa(n) + " " + Plural(n, one, many) }

// Times says how often: "once", "2 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return Counted(n, "time", "times")
}

// Plural is the word that goes with a number.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// IsAre is the verb that goes with a number.
func IsAre(n int) string { return Plural(n, "is", "are") }

// WasWere is the verb that goes with a number.
func WasWere(n int) string { return Plural(n, "was", "were") }

// ItThem is the pronoun that goes with a number.
func ItThem(n int) string { return Plural(n, "it", "them") }

// FirstN lists names, at most most of them: "a, b", "a, b and 3 more".
func FirstN(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// And lists words as a sentence does: "a, b and c".
func And(words []string) string { return List(words, "and") }

// AndMore is And of at most most words: "a, b and 3 more".
func AndMore(words []string, most int) string {
	if len(words) > most {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("%d more", len(words)-most))
	}
	return And(words)
}

// List lists words, with a word of its own before the last: "a, b or c".
func List(words []string, last string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
}
