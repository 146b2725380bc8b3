package loop

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestReadClaim has a row for each rule of C1 and C2.
func TestReadClaim(t *testing.T) {
	tests := []struct {
		name, text string
		done, ok   bool
	}{
		{"no tag", "All done!", false, false},
		{"the response", "Fine.\n<response>DONE</response>", true, true},
		{"case and white space", "<RESPONSE>\n  done \n</response>", true, true},
		{"another response", "<response>NOT DONE</response>", false, true},
		{"a longer response", "<response>DONE, nearly</response>", false, true},
		{"an empty response", "<response></response>", false, true},
		{"the first tag counts", "<response>NO</response><response>DONE</response>", false, true},
		{"a promise", "<promise>COMPLETE</promise>", true, true},
		{"the coder's promise", "<promise>implementation_complete</promise>", true, true},
		{"another promise", "<promise>REVIEW_PASSED</promise>", false, true},
		{"an unclosed tag", "<response>DONE", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := ReadClaim(tt.text, "DONE")
			if c.Done != tt.done || ok != tt.ok {
				t.Errorf("ReadClaim(%q) = %+v, %v", tt.text, c, ok)
			}
		})
	}
}

// TestExcerpt: what is cut is said once for the lines and once for the bytes, word for word as S0-44 has it.
func TestExcerpt(t *testing.T) {
	line := func(n int) string { return strings.Repeat("x", n-1) + "\n" }
	tests := []struct {
		name, output string
		want         string // of the marks; empty: nothing is cut
		kept         int    // bytes beside them
	}{
		{"nothing", "", "", 0},
		{"no line end", "a\nb", "", 3},
		{"as many lines as are kept", strings.Repeat("a\n", OutputLines), "", 2 * OutputLines},
		{"as many bytes as are kept", strings.Repeat("x", OutputBytes), "", OutputBytes},
		{"a line too many", strings.Repeat("a\n", OutputLines+1), "[... 1 lines truncated ...]\n", 2 * OutputLines},
		{"many lines", strings.Repeat("a\n", 250), "[... 150 lines truncated ...]\n", 2 * OutputLines},
		{"a byte too many, in one line", strings.Repeat("x", OutputBytes+1), "\n[... 1 bytes truncated ...]\n", OutputBytes},
		{"long lines, not many", strings.Repeat(line(1024), 20), "[... 4096 bytes truncated ...]\n", OutputBytes},
		{"many long lines", strings.Repeat(line(1024), 150),
			"[... 50 lines truncated ...]\n[... 86016 bytes truncated ...]\n", OutputBytes},
		{"many lines, the first long", line(60000) + strings.Repeat("a\n", 200),
			"\n[... 101 lines truncated ...]\n[... 43814 bytes truncated ...]\n", OutputBytes},
		{"many lines, the last long", strings.Repeat("a\n", 200) + line(60000),
			"[... 101 lines truncated ...]\n[... 43814 bytes truncated ...]\n", OutputBytes},
		{"no character is cut", "x" + strings.Repeat("€", OutputBytes), "\n[... 32772 bytes truncated ...]\n",
			OutputBytes - 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Excerpt(tt.output)
			head, tail, cut := strings.Cut(got, tt.want)
			if tt.want == "" {
				head, tail = got, ""
			}
			if !cut || len(head)+len(tail) != tt.kept || !strings.HasPrefix(tt.output, head) ||
				!strings.HasSuffix(tt.output, tail) || !utf8.ValidString(got) {
				t.Errorf("%d bytes before and %d after %q, want %d together:\n%.300q", len(head), len(tail), tt.want, tt.kept, got)
			}
			if again := Excerpt(got); again != got {
				t.Errorf("cut again it is %.300q", again)
			}
			for _, kind := range []string{" lines truncated ...]", " bytes truncated ...]"} {
				if n := strings.Count(got, kind); n != strings.Count(tt.want, kind) {
					t.Errorf("%q stands there %d times", kind, n)
				}
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for o, want := range map[Outcome]int{Done: 0, Capped: 1, Stuck: 1, Timeout: 1, Budget: 1, Failed: 1, Invalid: 2,
		Waiting: 3, Refused: 4, Interrupted: 130} {
		if got := o.ExitCode(); got != want {
			t.Errorf("%s exits %d, want %d", o, got, want)
		}
	}
}
