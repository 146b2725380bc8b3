package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Every attempt is in the history (S0-55); what is beyond fifty is counted.
func TestErrorHistory(t *testing.T) {
	s := sample.Begin(func(start *loop.Start) { start.MaxIterations = 60 })
	for n := 1; n <= 60; n++ {
		s.Iterate(n, loop.Implement, "", sample.Fail("tests", "", fmt.Sprint(n)))
	}
	text := page{view(s), rooms[0]}.errorHistory()
	if strings.Count(text, "| tests |") != 50 || !strings.HasPrefix(text, "10 earlier attempts not shown\n\n| # | Gate |") ||
		!strings.Contains(text, "| 11 | tests |") {
		t.Error(text)
	}
}

// Each promise's fate: iteration, whether it was made, whether it held, why and when (S2-66).
func TestVerified(t *testing.T) {
	got := Verifications(withRoles().State)
	want := []string{"1 coder true false Command exited with 1, expected 0",
		"2 coder true true External verification passed",
		"3 coder true true External verification passed", "3 tester true true Promise found in output",
		"3 reviewer true true VERIFIED",
		"3 qa true false Stage 'bandit' failed: Command exited with 1, expected 0"}
	if len(got) != len(want) {
		t.Fatalf("%d results: %+v", len(got), got)
	}
	for i, r := range got {
		if text := fmt.Sprint(r.Iteration, " ", r.Role, " ", r.PromiseFound, " ", r.Verified, " ",
			r.Reason); text != want[i] || r.Timestamp.IsZero() {
			t.Errorf("result %d is %q at %v, want %q", i, text, r.Timestamp, want[i])
		}
	}
	s := sample.Begin(nil)
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.OK})
	s.Committed(1)
	s.Judged(1, loop.Verdict{Check: "verify coder", Role: task.Coder, Verification: true, Skipped: "no claim"},
		loop.Verdict{Check: "verify qa", Role: task.QA, Verification: true, Reason: noPromise})
	for _, r := range Verifications(s.State) {
		if r.PromiseFound || r.Verified {
			t.Errorf("no promise was made: %+v", r)
		}
	}
}
