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
	later := Verdict{Check: "verify tester", Role: task.Tester, Severity: Hard, Skipped: "the tester has yet to work",
		Later: true, Tree: "t"}
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
		{"the coder claims nothing", task.Coder, false, []Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t"}, later},
			task.Coder, Implement, ""},
		{"a check fails after the tester's turn", task.Tester, true, []Verdict{fail("make test", "")}, task.Tester, Implement,
			""},
		{"the coder's part no longer holds after the tester's turn", task.Tester, true,
			[]Verdict{fail("verify coder", task.Coder)}, task.Coder, Implement, ""},
		{"the tester's own part is not verified", task.Tester, true,
			[]Verdict{pass(task.Coder), fail("verify tester", task.Tester)}, task.Tester, Implement, ""},
		{"the reviewer rejects: back to the coder", task.Tester, true,
			[]Verdict{pass(task.Coder), pass(task.Tester), fail(ReviewCheck, task.Reviewer)}, task.Coder, ReviewFix, ""},
		{"everybody agrees", task.Tester, true, []Verdict{pass(task.Coder), pass(task.Tester), pass(task.Reviewer)}, "", "",
			Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := &Iteration{N: 1, Role: tt.by, Turn: Turn{Class: OK, Claim: Claim{Done: tt.claims}}, Commit: made, Judged: true,
				Verdicts: tt.verdicts}
			s := State{Start: Start{Assignment: Assignment{Pipeline: all}}, MaxIterations: 9, Iterations: []*Iteration{it}}
			if got := Next(s, Limits{}, noon); got.Role != tt.want || got.Mode != tt.mode || got.Outcome != tt.outcome {
				t.Errorf("Next = %+v, want %s %s %s", got, tt.want, tt.mode, tt.outcome)
			}
		})
	}
}

func TestCapsOfRoles(t *testing.T) {
	s := history("a b")
	s.Start.Caps = map[task.Role]int{task.Coder: 2}
	if got := Next(s, Limits{}, noon); got.Outcome != Capped || got.Reason != "the coder has taken 2 turns, which is its cap" {
		t.Errorf("Next = %+v, want capped by the coder's own cap", got)
	}
	s.Reopened = 2
	if got := Next(s, Limits{}, noon); got.Do != TakeTurn {
		t.Errorf("Next = %+v, want a turn: it was asked for again", got)
	}
}

// TestCapsOfReaders: a reader that may judge no more ends the run, since nobody could judge what a writer does then.
func TestCapsOfReaders(t *testing.T) {
	spent := &Usage{}
	by := func(check string, r task.Role) Verdict {
		return Verdict{Check: check, Role: r, Severity: Hard, Tree: "t", Reason: "no", Usage: spent}
	}
	rejected := func(n int, v Verdict) *Iteration { return judged(n, claims, with(v, 2)) }
	skipped := by(ReviewCheck, task.Reviewer)
	skipped.Skipped = "why"
	for _, tt := range []struct {
		name string
		its  []*Iteration
		want string
	}{
		{"below its cap", []*Iteration{rejected(1, by(ReviewCheck, task.Reviewer))}, ""},
		{"at its cap", []*Iteration{rejected(1, by(ReviewCheck, task.Reviewer)), rejected(2, by(ReviewCheck, task.Reviewer))},
			"the reviewer has judged 2 times, which is its cap, and the work is not done"},
		{"a verdict that was skipped is none",
			[]*Iteration{rejected(1, by(ReviewCheck, task.Reviewer)), rejected(2, skipped)}, ""},
		{"qa counts for itself", []*Iteration{rejected(1, by("qa", task.QA))},
			"the qa has judged once, which is its cap, and the work is not done"},
	} {
		s := State{MaxIterations: 9, Iterations: tt.its,
			Start: Start{Assignment: Assignment{Pipeline: []task.Role{task.Coder, task.Reviewer, task.QA}, Caps: map[task.Role]int{task.Coder: 9, task.Reviewer: 2, task.QA: 1}}}}
		got := Next(s, Limits{}, noon)
		if got.Reason != tt.want || (got.Outcome == Capped) != (tt.want != "") {
			t.Errorf("%s: Next = %+v, want %q", tt.name, got, tt.want)
		}
		s.Reopened = len(tt.its)
		if got := Next(s, Limits{}, noon); got.Do != TakeTurn {
			t.Errorf("%s: Next = %+v, want a turn: it was asked for again", tt.name, got)
		}
	}
}

// TestClaims: by which signs a role may claim. Either tag will do where its own criteria name no promise.
func TestClaims(t *testing.T) {
	for _, tt := range []struct {
		name     string
		criteria *task.Completion
		role     task.Role
		message  string
		want     bool
	}{
		{"no criteria: the response", nil, task.Coder, "<response>DONE</response>", true},
		{"no criteria: any usual promise", nil, task.Coder, "<promise>complete</promise>", true},
		{"another role has criteria: the response", &task.Completion{QA: &task.Criteria{Promise: "FINE"}}, task.Coder,
			"<response>done</response>", true},
		{"the role's own promise, that nobody named: the response",
			&task.Completion{Coder: &task.Criteria{Promise: "IMPLEMENTATION_COMPLETE"}}, task.Coder, "<response>DONE</response>",
			true},
		{"the role's own promise", &task.Completion{Coder: &task.Criteria{Promise: "IMPLEMENTATION_COMPLETE"}}, task.Coder,
			"<promise>implementation_complete</promise>", true},
		{"another role's promise", &task.Completion{Tester: &task.Criteria{Promise: "TESTS_PASSED"}}, task.Tester,
			"<promise>IMPLEMENTATION_COMPLETE</promise>", false},
		{"a promise that the criteria name: nothing else", &task.Completion{Coder: &task.Criteria{Promise: "ADDED"}},
			task.Coder, "<response>DONE</response>", false},
		{"a promise that the criteria name: not the usual one", &task.Completion{Coder: &task.Criteria{Promise: "ADDED"}},
			task.Coder, "<promise>COMPLETE</promise>", false},
		{"a promise that the criteria name", &task.Completion{Coder: &task.Criteria{Promise: "ADDED"}}, "",
			"<promise> added </promise>", true},
	} {
		s := State{Start: Start{Assignment: Assignment{Completion: tt.criteria}}}
		response, promises := s.Claims(tt.role, "DONE")
		if c, _ := ReadClaim(tt.message, response, promises...); c.Done != tt.want {
			t.Errorf("%s: %+v, want %v", tt.name, c, tt.want)
		}
	}
}

func TestReasonsOfTheCap(t *testing.T) {
	wrong := judged(1, Turn{Class: OK, Claim: Claim{Tag: "promise", Text: "X"}},
		[]Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t",
			Reason: `the agent's <promise> says "X", which is not its promise "Y"`}})
	failing := judged(1, Turn{Class: OK},
		[]Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t"}, {Check: "make test", Severity: Hard, Tree: "t"}})
	unclaimed := judged(1, Turn{Class: OK}, []Verdict{{Check: ClaimCheck, Severity: Hard, Tree: "t"}})
	unverified := judged(1, claims,
		[]Verdict{{Check: "verify coder", Verification: true, Severity: Hard, Tree: "t",
			Reason: "Command exited with 1, expected 0"}})
	for want, it := range map[string]*Iteration{
		"1 of 1 iterations are used up. Max iterations reached without completion promise":                                                       unclaimed,
		"1 of 1 iterations are used up. Max iterations reached. Last verification: Command exited with 1, expected 0":                            unverified,
		`1 of 1 iterations are used up. Max iterations reached. Last verification: the agent's <promise> says "X", which is not its promise "Y"`: wrong,
		"1 of 1 iterations are used up": failing,
	} {
		s := State{Start: Start{Assignment: Assignment{Completion: &task.Completion{}}}, MaxIterations: 1, Iterations: []*Iteration{it}}
		if got := Next(s, Limits{}, noon); got.Reason != want {
			t.Errorf("Next = %+v, want the reason %q (S2-61, S2-64)", got, want)
		}
	}
}
