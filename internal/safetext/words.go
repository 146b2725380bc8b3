package safetext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Quoted shows what was found: quoted, on one line, at most 60 characters.
func Quoted(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60]) + "…"
	}
	return strconv.Quote(s)
}

// Listed is "a, b and c".
func Listed[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
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
// nothing is left.
func Slug(s string, most int) string {
	s = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if len(s) > most {
		s = strings.TrimRight(s[:most], "-")
	}
	if s == "" {
		return "task"
	}
	return s
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

// Map returns what f makes of each item; nil if there is none.
func Map[T any](items []T, f func(T) string) (out []string) {
	for _, item := range items {
		out = append(out, f(item))
	}
	return out
}
