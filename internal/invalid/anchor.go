package invalid

import (
	"errors"
	"strings"
)

// page lists every message with an anchor, and where to read on.
const page = "https://github.com/ralph-loop/ralph/blob/main/docs/errors.md#"

// anchorWords are enough that no two messages begin with the same.
const anchorWords = 8

// Anchor is the address on that page of a message, as the format says it: of its first words, without what is filled
// in. So it stays while they do.
func Anchor(format string) string {
	format = strings.ReplaceAll(strings.ToLower(withoutVerbs(format)), "…", " ")
	words := strings.FieldsFunc(format, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return "e-" + strings.Join(words[:min(anchorWords, len(words))], "-")
}

// withoutVerbs leaves a space for each verb of a format.
func withoutVerbs(format string) string {
	var rest strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		rest.WriteString(before)
		if !found {
			return rest.String()
		}
		verb := strings.TrimLeft(after, "-+# 0123456789.[]*")
		format = verb[min(1, len(verb)):]
		rest.WriteByte(' ')
	}
}

// Page is the address at which docs/errors.md has the message of a mistake; empty: nowhere.
func Page(err error) string {
	var e interface{ Anchor() string }
	if !errors.As(err, &e) || e.Anchor() == "" {
		return ""
	}
	return page + e.Anchor()
}

// Text is what a person is to read of an error: its words, and where the page of messages goes on about a mistake.
func Text(err error) string {
	text := strings.TrimSpace(err.Error())
	if at := Page(err); at != "" {
		text += "\nMore: " + at
	}
	return text
}
