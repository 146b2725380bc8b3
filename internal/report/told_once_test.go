package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestReasonsOnce: no reason is told twice in a line, and none speaks of a hash where nobody shows any.
func TestReasonsOnce(t *testing.T) {
	failing := loop.Verdict{
		Check: "go test ./...", Severity: loop.Hard, Exit: 1, Hash: "3afbbd29", Output: "a_test.go:3: want 3, got 4\n",
		Reason:   "it exited with code 1: a_test.go:3: want 3, got 4",
		Findings: []loop.Finding{{File: "a_test.go", Line: 3, Message: "want 3, got 4"}},
	}
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), failing)
	v := end(s, loop.Stuck, "the same failure of go test ./... 4 times in a row, also after a "+
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
	if text := Failure(v); !strings.Contains(text, "| 3afbbd29 |") {
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
		{"every check passed", []loop.Verdict{own, sample.Pass("make test")}, 0},
	} {
		s := sample.Begin(nil)
		s.Turning(1, loop.Implement)
		s.Turned(1, broken)
		s.Committed(1, loop.FileChange{Path: "hello.go"})
		s.Judged(1, tt.verdicts...)
		v := end(s, loop.Capped, "1 of 1 iterations are used up", "wip/x")
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
