package event

import (
	"strings"
	"unicode"
)

// Sanitise takes out of Markdown what a person looking at it on GitHub would not see (B-14). Visible text in any script stays.
func Sanitise(s string) string { return Visible(s) }

// Visible drops every character that cannot be seen.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}
