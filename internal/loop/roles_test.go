package loop

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/task"
)

func TestNextRole(t *testing.T) {
	all := []task.Role{task.Coder, task.Tester, task.Reviewer, task.QA}
	pass := func(role task.Role) Verdict {
		return Verdict{Check: "verify " + string(role), Role: role, Severity: Hard, Pass: true, Tree: "t"}
	}
	later := Verdict{Check: "verify tester", Role: task.Tester, Severity: Hard, Skipped: "the tester has yet to work", Later: true, Tree: "t"}
	fail := func(check string, role task.Role) Verdict {
		return Verdict{Check: check, Role: role, Severity: Hard, Tree: "t", Hash: "h"}
	}
	tests := []struct {
		name     string
		by       task.Role
		claims   bool
		verdicts []Verdict
		want     task.Role
		mode     Mode
		outcome  Outcome
	}{
		{"the coder has done its part", task.Coder, true, []Verdict{pass(task.Coder), later}, task.Tester, Implement, ""},
		{"the coder claims nothing", task.Coder, false, []Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t"}, later}, task.Coder, Implement, ""},
		{"a check fails after the tester's turn", task.Tester, true, []Verdict{fail("make test", "")}, task.Tester, Implement, ""},
		{"the coder's part no longer holds after the tester's turn", task.Tester, true, []Verdict{fail("verify coder", task.Coder)}, task.Coder, Implement, ""},
		{"the tester's own part is not verified", task.Tester, true, []Verdict{pass(task.Coder), fail("verify tester", task.Tester)}, task.Tester, Implement, ""},
		{"the reviewer rejects: back to the coder", task.Tester, true, []Verdict{pass(task.Coder), pass(task.Tester), fail(ReviewCheck, task.Reviewer)}, task.Coder, ReviewFix, ""},
		{"qa rejects: back to the coder", task.Tester, true, []Verdict{pass(task.Coder), pass(task.Tester), fail("qa", task.QA)}, task.Coder, ReviewFix, ""},
		{"everybody agrees", task.Tester, true, []Verdict{pass(task.Coder), pass(task.Tester), pass(task.Reviewer)}, "", "", Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := &Iteration{N: 1, Role: tt.by, Turn: Turn{Class: OK, Claim: Claim{Done: tt.claims}}, Commit: made, Judged: true, Verdicts: tt.verdicts}
			s := State{Start: Start{Pipeline: all}, MaxIterations: 9, Iterations: []*Iteration{it}}
			if got := Next(s, Limits{}, noon); got.Role != tt.want || got.Mode != tt.mode || got.Outcome != tt.outcome {
				t.Errorf("Next = %+v, want %s %s %s", got, tt.want, tt.mode, tt.outcome)
			}
		})
	}
}

func TestCapsOfRoles(t *testing.T) {
	s := history("a b")
	s.Start.Caps = map[task.Role]int{task.Coder: 2}
	if got := Next(s, Limits{}, noon); got.Outcome != Capped || got.Reason != "the coder has taken all of its 2 turns" {
		t.Errorf("Next = %+v, want capped by the coder's own cap", got)
	}
	s.Reopened = 2
	if got := Next(s, Limits{}, noon); got.Do != TakeTurn {
		t.Errorf("Next = %+v, want a turn: it was asked for again", got)
	}
}

func TestReasonsOfTheCap(t *testing.T) {
	unclaimed := judged(1, Turn{Class: OK}, []Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t"}})
	unverified := judged(1, claims, []Verdict{{Check: "verify coder", Verification: true, Severity: Hard, Tree: "t", Reason: "Command exited with 1, expected 0"}})
	for want, it := range map[string]*Iteration{
		"1 of 1 iterations are used up. Max iterations reached without completion promise":                            unclaimed,
		"1 of 1 iterations are used up. Max iterations reached. Last verification: Command exited with 1, expected 0": unverified,
	} {
		s := State{Start: Start{Completion: &task.Completion{}}, MaxIterations: 1, Iterations: []*Iteration{it}}
		if got := Next(s, Limits{}, noon); got.Reason != want {
			t.Errorf("Next = %+v, want the reason %q (S2-61, S2-64)", got, want)
		}
	}
}
