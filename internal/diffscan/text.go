package diffscan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const lineBytes = 4 << 10 // of a line that is looked at; nobody writes longer ones

// clip shortens a line that is looked at.
func clip(text string) string { return text[:min(len(text), lineBytes)] }

func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// group is what the first group of a match holds that holds anything.
func group(p *pattern, text string) string {
	m := p.FindStringSubmatch(text)
	for i := 1; i < len(m); i++ {
		if m[i] != "" {
			return m[i]
		}
	}
	return ""
}

func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "#") || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "<!--")
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

func holdsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// quote writes foreign text into a message.
func quote(text string) string { return fmt.Sprintf("%q", shorten(strings.TrimSpace(text), 120)) }

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// quoteName writes a test's name: an identifier as it is, a sentence in quotes.
func quoteName(name string) string {
	for i := range len(name) {
		if !wordByte(name[i]) {
			return quote(name)
		}
	}
	return shorten(name, 120)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
