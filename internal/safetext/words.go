// Package safetext makes foreign text harmless, and cuts, counts and quotes text. Every such helper is here once.
package safetext

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agext/levenshtein"

	"github.com/ralph-loop/ralph/internal/regex"
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

// Listed is "a, b and c".
func Listed[T ~string](words []T) string {
	return And(Map(words, func(w T) string { return string(w) }))
}

// Truncated is at most the first bytes of s, and says where the rest was cut.
func Truncated(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "\n[... the rest was cut: too long ...]"
}

var notSlug = regex.Lazy(`[^a-z0-9]+`)

// Slug makes a title part of a branch or file name: lower-case letters, digits and dashes, at most so many; "task" when
// nothing is left. Letters of other scripts are left out; then a hash of the title makes it unique.
func Slug(s string, most int) string {
	hash := ""
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }) {
		hash = fmt.Sprintf("-%.3x", sha256.Sum256([]byte(s)))
	}
	most -= len(hash)
	s = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if len(s) > most {
		s = strings.TrimRight(s[:most], "-")
	}
	if s == "" {
		s = "task"
	}
	return s + hash
}

// FirstInvalid is where content stops being UTF-8; its length when it never does.
func FirstInvalid(content []byte) int {
	for i := 0; i < len(content); {
		r, n := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(content)
}

// Map returns what f makes of each item; nil without items.
func Map[T, U any](items []T, f func(T) U) (out []U) {
	for _, item := range items {
		out = append(out, f(item))
	}
	return out
}

// CountFunc returns how many items are so.
func CountFunc[T any](items []T, are func(T) bool) (n int) {
	for _, item := range items {
		if are(item) {
			n++
		}
	}
	return n
}

// Nearest returns the name that a word may have been meant to be: at most two letters away, longer or shorter at its
// end, or with letters left out. It is empty if no name is that close.
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

// Duration formats a length of time in at most two units, as in "1m 35s"; below ten seconds with a tenth.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < 10*time.Second-50*time.Millisecond && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", max(d.Seconds(), 0.1))
	}
	d = d.Round(time.Second)
	switch rest := d % time.Hour; {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	case rest < time.Minute:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dh %02dm", d/time.Hour, rest/time.Minute)
	}
}
