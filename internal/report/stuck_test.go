package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Every attempt is in the history (S0-55); beyond fifty those that failed alike in a row share a line, and the rest is
// counted.
func TestErrorHistory(t *testing.T) {
	run := func(attempts, period int) View {
		s := sample.Begin(func(start *loop.Start) { start.MaxIterations = attempts })
		for n := 1; n <= attempts; n++ {
			s.Iterate(n, loop.Implement, "", sample.Fail("tests", "", fmt.Sprint((n-1)/period)))
		}
		return view(s)
	}
	tests := []struct {
		attempts, period, rows int
		first, last            string
	}{
		{3, 1, 3, "| 1 | tests |", "| 3 | tests |"},
		{50, 50, 50, "| 1 | tests |", "| 50 | tests |"},
		{60, 20, 3, "| 1–20 | tests |", "| 41–60 | tests |"},
		{60, 1, 51, "| … | attempts 1 to 10 not shown |", "| 60 | tests |"},
	}
	for _, tt := range tests {
		table := strings.Split(strings.TrimSpace(run(tt.attempts, tt.period).errorHistory(50)), "\n")[2:]
		if len(table) != tt.rows || !strings.HasPrefix(table[0], tt.first) ||
			!strings.HasPrefix(table[len(table)-1], tt.last) {
			t.Errorf("%d attempts, %d alike: %d rows, from %q to %q", tt.attempts, tt.period, len(table), table[0],
				table[len(table)-1])
		}
	}
}

func TestFindingsAreCounted(t *testing.T) {
	f := sample.TestFailure
	for i := range 25 {
		f.Findings = append(f.Findings, loop.Finding{File: "a.go", Line: i + 1, Message: "bad"})
	}
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "", f)
	table := view(s).findings(rooms[0])
	if n := strings.Count(table, "`a.go:"); n != 20 || !strings.Contains(table, "| … | 5 more |") {
		t.Errorf("%d findings in\n%s", n, table)
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
