package report

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// A promise that was not made is none; state-roles.md has the fate of each that was (S2-66).
func TestVerified(t *testing.T) {
	s := sample.Begin(nil)
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.OK})
	s.Committed(1)
	s.Judged(1, loop.Verdict{Check: "verify coder", Role: task.Coder, Verification: true, Skipped: "no claim"},
		loop.Verdict{Check: "verify qa", Role: task.QA, Verification: true, Reason: noPromise})
	list := Verifications(s.State)
	if len(list) != 2 {
		t.Errorf("%+v", list)
	}
	for _, r := range list {
		if r.PromiseFound || r.Verified {
			t.Errorf("no promise was made: %+v", r)
		}
	}
}
