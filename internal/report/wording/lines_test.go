package wording

import (
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	var lines []string
	for range 100 {
		lines = append(lines, "ok")
	}
	lines[50] = "--- FAIL: TestX"
	got := Within(strings.Join(lines, "\n"), 10)
	want := "[... 48 lines truncated ...]\nok\nok\n--- FAIL: TestX\nok\nok\nok\n[... 42 lines truncated " +
		"...]\nok\nok\nok\nok"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := Within("a\nb\n", 10); got != "a\nb" {
		t.Errorf("a short output: %q", got)
	}
}

// TestTruncatedOnce: where an excerpt is cut again, one line says how much is missing in each gap, and what stood
// before a gap makes none of its own.
func TestTruncatedOnce(t *testing.T) {
	many := func(n int, text string) string { return strings.Repeat(text+"\n", n) }
	for _, tt := range []struct{ name, output, want string }{
		{"fits", "a\n[... 7 lines truncated ...]\nb", "a\n[... 7 lines truncated ...]\nb"},
		{"two marks for one gap", "a\n[... 7 lines truncated ...]\n[... 900 bytes truncated ...]\nb",
			"a\n[... 7 lines truncated ...]\nb"},
		{"bytes alone", "a\n[... 900 bytes truncated ...]\nb", "a\n[... 900 bytes truncated ...]\nb"},
		{"a gap beside a gap", many(50, "x") + "[... 7 lines truncated ...]\n" + many(4, "y"),
			"[... 57 lines truncated ...]\ny\ny\ny\ny"},
		{"a failure before the gap", "FAIL\n" + many(20, "x") + "[... 7 lines truncated ...]\n" + many(20, "y"),
			"FAIL\nx\nx\nx\n[... 43 lines truncated ...]\ny"},
		{"no number that could be", "a\n[... 99999999999999999999 lines truncated ...]\nb",
			"a\n[... 1 lines truncated ...]\nb"},
	} {
		if got := Within(tt.output, 5); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
