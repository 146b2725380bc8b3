package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// shownName writes a path into a sentence: as it is, or quoted when it holds what could break the sentence.
func shownName(name string) string {
	plain := strings.IndexFunc(name,
		func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\"`\uFFFD", r) }) < 0
	if !plain {
		name = strconv.Quote(name)
	}
	return shorten(safetext.Inert(name), 200)
}

// few names at most five paths, and counts the rest.
func few(names []string) string {
	shown := make([]string, 0, 5)
	for _, name := range names[:min(len(names), 5)] {
		shown = append(shown, shownName(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// quote writes foreign text into a message.
func quote(text string) string { return fmt.Sprintf("%q", shorten(strings.TrimSpace(text), 120)) }

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
