package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
		if got := within(tt.output, 5); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReasonsOnce: no reason is told twice in a line, and none speaks of a hash where nobody shows any.
func TestReasonsOnce(t *testing.T) {
	failing := loop.Verdict{
		Check: "go test ./...", Severity: loop.Hard, Exit: 1, Hash: "3afbbd29", Output: "a_test.go:3: want 3, got 4\n",
		Reason:   "it exited with code 1: a_test.go:3: want 3, got 4",
		Findings: []loop.Finding{{File: "a_test.go", Line: 3, Message: "want 3, got 4"}},
	}
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), failing)
	v := s.end(loop.Stuck, "the same failure of go test ./... 4 times in a row (error hash 3afbbd29), also after a "+
		"strategy shift", "wip/ralph-fail")
	for name, line := range map[string]string{
		"the headline": lineWith(Failure(v), "### "), "what was tried": lineWith(Failure(v), "**1, implement:**"),
		"the last failure": lineWith(IterationComment(v, 1), "It exited with code 1"),
		"the place":        lineWith(IterationComment(v, 1), "- `a_test.go:3`"),
	} {
		want := map[string]int{"the headline": 1, "what was tried": 0, "the last failure": 0, "the place": 1}[name]
		if n := strings.Count(line, "want 3, got 4"); n != want || line == "" {
			t.Errorf("%s tells it %d times: %s", name, n, line)
		}
	}
	if text := Comment(v); strings.Contains(text, "hash") ||
		!strings.Contains(text, "4 times in a row, also after a strategy shift") {
		t.Errorf("the comment speaks of a hash:\n%s", text)
	}
	if text := Failure(v); !strings.Contains(text, "(error hash 3afbbd29)") || !strings.Contains(text, "| `3afbbd29` |") {
		t.Errorf("the failure report shows no hash:\n%s", text)
	}
}

// TestTurnEnd: how the turn ended is told beside the check that failed, and not twice where it is the failure itself.
func TestTurnEnd(t *testing.T) {
	broken := loop.Turn{Class: loop.Broke, Exit: 1, Reason: "the agent ended with exit code 1: see its log"}
	own := loop.Verdict{Check: loop.AgentCheck, Severity: loop.Hard, Reason: broken.Reason}
	for _, tt := range []struct {
		name     string
		verdicts []loop.Verdict
		told     int
	}{
		{"a check failed", []loop.Verdict{own, {Check: "make test", Severity: loop.Hard, Reason: "it exited with code 2"}},
			1},
		{"every check passed", []loop.Verdict{own, pass("make test")}, 0},
	} {
		s := begin(nil)
		s.turning(1, loop.Implement)
		s.turned(1, broken)
		s.committed(1, loop.FileChange{Path: "hello.go"})
		s.judged(1, tt.verdicts...)
		v := s.end(loop.Capped, "1 of 1 iterations are used up", "wip/x")
		if n := strings.Count(Failure(v), "The turn itself: the agent ended with exit code 1: see its log."); n != tt.told {
			t.Errorf("%s: the failure report tells it %d times, want %d", tt.name, n, tt.told)
		}
		if n := strings.Count(IterationComment(v, 1), "The turn itself:"); n != tt.told {
			t.Errorf("%s: the comment on the iteration tells it %d times, want %d", tt.name, n, tt.told)
		}
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}
