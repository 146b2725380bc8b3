package check

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTruncate: what fits is kept as it is; of any other output, whole characters are kept, as many as asked for, of
// the end that was asked for.
func FuzzTruncate(f *testing.F) {
	for n := range 6 {
		f.Add("x€é𝄞\xffy", n)
	}
	f.Add(strings.Repeat("€", 100), 7)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		all := utf8.RuneCountInString(s)
		for _, from := range []string{"", "head", "tail", "both"} {
			got := truncate(s, n, from)
			if all <= n {
				if got != s {
					t.Errorf("%s: a short output was changed: %q", from, got)
				}
				continue
			}
			head, tail, _ := strings.Cut(got, cutMark)
			tail = strings.TrimPrefix(tail, "\n")
			if strings.Contains(s, cutMark) {
				return // it cannot be told which mark is ours
			}
			if utf8.RuneCountInString(head)+utf8.RuneCountInString(tail) != n || !strings.HasPrefix(s, head) ||
				!strings.HasSuffix(s, tail) {
				t.Errorf("%s of %q, %d characters: %q", from, s, n, got)
			}
			if utf8.ValidString(s) && !utf8.ValidString(got) {
				t.Errorf("%s: a character is cut in two: %q", from, got)
			}
			if again := truncate(head, n, from); again != head {
				t.Errorf("%s: what was cut is cut again: %q", from, again)
			}
		}
	})
}

// A line of a check's output that is too long for the console is cut between characters, and says so.
func TestConsoleCutsBetweenCharacters(t *testing.T) {
	for shift := range 5 {
		var shown strings.Builder
		w := &console{to: &shown, left: 1 << 20}
		_, _ = w.Write([]byte(strings.Repeat("x", shift) + strings.Repeat("€é𝄞", maxConsoleLine) + "\nnext\n"))
		w.end()
		long, next, _ := strings.Cut(shown.String(), "\n")
		if n := len(long); n > maxConsoleLine+20 || n < maxConsoleLine || strings.Contains(long, "\uFFFD") ||
			!strings.HasSuffix(long, " [...]") || next != "  │ next\n" {
			t.Errorf("after %d bytes: %d bytes ending in %q, then %q", shift, n, long[len(long)-20:], next)
		}
	}
}
