package loop

import (
	"fmt"
	"strings"
	"testing"
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

func TestExcerpt(t *testing.T) {
	var long strings.Builder
	for i := range 250 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	got := Excerpt(long.String())
	if n := strings.Count(got, "\n"); n != OutputLines+1 {
		t.Errorf("%d lines, want %d and one that says what is missing", n, OutputLines)
	}
	if !strings.Contains(got, "\n[... 150 lines truncated ...]\n") || !strings.HasSuffix(got, "line 249\n") || !strings.HasPrefix(got, "line 0\n") {
		t.Errorf("excerpt:\n%s", got)
	}
	short := "a\nb"
	if Excerpt(short) != short {
		t.Error("a short output was changed")
	}
	if got := Excerpt(strings.Repeat("é", OutputBytes)); len(got) > OutputBytes+100 || !strings.Contains(got, "bytes truncated") {
		t.Errorf("one long line: %d bytes kept", len(got))
	}
}

func TestExitCodes(t *testing.T) {
	for o, want := range map[Outcome]int{Done: 0, Capped: 1, Stuck: 1, Timeout: 1, Budget: 1, Failed: 1, Invalid: 2, Waiting: 3, Refused: 4, Interrupted: 130} {
		if got := o.ExitCode(); got != want {
			t.Errorf("%s exits %d, want %d", o, got, want)
		}
	}
}
