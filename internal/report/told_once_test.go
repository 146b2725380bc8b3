package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestToldOnce: in what is not folded an error, a reason, the end of a turn and a reviewer's words are told once, none
// where another says it already, and nothing of what is for programs.
func TestToldOnce(t *testing.T) {
	failing := loop.Verdict{
		Check: "go test ./...", Severity: loop.Hard, Exit: 1, Hash: "3afbbd29", Output: "a_test.go:3: want 3, got 4\n",
		Reason:   "it exited with code 1: a_test.go:3: want 3, got 4",
		Findings: []loop.Finding{{File: "a_test.go", Line: 3, Message: "want 3, got 4"}},
	}
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), failing)
	stopped := end(s, loop.Stuck, "the same failure of go test ./... 4 times in a row, also after a strategy shift", "wip/ralph-fail")
	const broke = "the agent ended with exit code 1: see its log"
	brokenBeside := func(c loop.Verdict) View {
		s := sample.Begin(nil)
		s.Turning(1, loop.Implement)
		s.Turned(1, loop.Turn{Class: loop.Broke, Exit: 1, Reason: broke})
		s.Committed(1, loop.FileChange{Path: "hello.go"})
		s.Judged(1, loop.Verdict{Check: loop.AgentCheck, Severity: loop.Hard, Reason: broke}, c)
		return end(s, loop.Capped, "1 of 1 iterations are used up", "wip/x")
	}
	beside, only := brokenBeside(failing), brokenBeside(sample.Pass("make test"))
	reviewed := planDone()
	for _, it := range reviewed.State.Iterations {
		if it.N == 4 {
			it.Turn.Text = "I looked.\n```json\n" +
				`{"verdict":"request_changes","tree":"0123abcd","summary":"Nearly there.","issues":[{"file":"join.go","line":7,"problem":"four names lose a comma"}]}` + "\n```"
		}
	}
	outputs := regexp.MustCompile("(?s)```text\n.*?```")
	for _, tt := range []struct {
		name, text, says string
		times            int
	}{
		{"the failure report", outputs.ReplaceAllString(Failure(annotatedCap()), ""), `want "Hello!"`, 1},
		{"the failure report on a laptop", outputs.ReplaceAllString(Failure(onLaptop(stuckRun())), ""), `want "Hello!"`, 1},
		{"the headline", lineWith(Failure(stopped), "### "), "want 3, got 4", 1},
		{"what was tried", lineWith(Failure(stopped), "**1, implement:**"), "want 3, got 4", 0},
		{"the last failure", lineWith(IterationComment(stopped, 1), "It exited with code 1"), "want 3, got 4", 0},
		{"the place", lineWith(IterationComment(stopped, 1), "- `a_test.go:3`"), "want 3, got 4", 1},
		{"the comment", Comment(stopped), "hash", 0},
		{"the failure report", Failure(stopped), "| 3afbbd29 |", 1},
		{"the failure report beside a check", Failure(beside), "The turn itself: " + broke, 1},
		{"the failure report of the turn only", Failure(only), "The turn itself:", 0},
		{"the iteration beside a check", IterationComment(beside, 1), "The turn itself:", 1},
		{"the iteration of the turn only", IterationComment(only, 1), "The turn itself:", 0},
		{"the pull request", PullBody(reviewed), "Nearly there.", 1},
		{"the pull request", PullBody(reviewed) + Comment(reviewed) + Failure(reviewed), "0123abcd", 0},
		{"the pull request", PullBody(reviewed) + Comment(reviewed) + Failure(reviewed), "request_changes", 0},
	} {
		if n := strings.Count(tt.text, tt.says); n != tt.times || tt.text == "" {
			t.Errorf("%s tells %q %d times, want %d:\n%s", tt.name, tt.says, n, tt.times, tt.text)
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
