package proc_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/proc"
)

// FuzzTail: what is kept of a text, in pieces of any size, is its beginning and its end, in whole characters, and no
// more than was asked for.
func FuzzTail(f *testing.F) {
	for size := range 6 {
		f.Add("x€é𝄞y\nz€é𝄞", size, 5-size, 1+size)
	}
	f.Fuzz(func(t *testing.T, in string, head, keep, piece int) {
		if head < 0 || head > 1000 || keep < 0 || keep > 1000 || piece < 1 {
			return
		}
		tail := proc.NewTail(head, keep)
		for rest := in; rest != ""; {
			n := min(piece, len(rest))
			if wrote, err := tail.Write([]byte(rest[:n])); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			rest = rest[n:]
		}
		got := tail.String()
		if len(in) <= head+keep {
			if got != in {
				t.Errorf("a short text was changed: %q", got)
			}
			return
		}
		if utf8.ValidString(in) && !utf8.ValidString(got) {
			t.Errorf("a character is cut in two: %q", got)
		}
		const longest = len("\n[... 1234567890 bytes truncated ...]\n")
		if len(got) > head+keep+longest {
			t.Errorf("%d bytes are kept of %d", len(got), len(in))
		}
		if strings.Contains(in, "[...") {
			return // it cannot be told which mark is ours
		}
		first, rest, _ := strings.Cut(got, "[... ")
		_, last, _ := strings.Cut(rest, " ...]\n")
		if !strings.HasPrefix(in, strings.TrimSuffix(first, "\n")) || !strings.HasSuffix(in, last) {
			t.Errorf("of %q: %q", in, got)
		}
	})
}
