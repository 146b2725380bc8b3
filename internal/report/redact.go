package report

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Redactor returns a function that takes secrets out of a text: the known values and the forms they travel in, and
// whatever looks like a credential of GitHub, a model vendor or AWS, or a private key. Values of fewer than six
// characters are ignored, because they would take ordinary words with them.
func Redactor(secrets []string) func(string) string {
	known := secret.NewRedactor(secrets)
	return func(text string) string {
		safe := redactAll(text, known)
		if hides(text) { // what nobody sees may part a secret, and only its beginning looks like one
			if seen := redactAll(wording.Bare(text), known); seen != wording.Bare(safe) {
				return seen
			}
		}
		return safe
	}
}

// hides reports whether anything in a text may be there without being seen: nearly nothing that is printed has any of
// it.
func hides(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

const redacted = "[redacted]"

// redactAll replaces what is known and what looks like a credential; what overlaps becomes one, so that no end of
// either is left.
func redactAll(text string, known *secret.Redactor) string {
	spans := secret.Merged(known.All(text), secret.Looks(text))
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.From] + redacted)
		end = s.To
	}
	return b.String() + text[end:]
}
