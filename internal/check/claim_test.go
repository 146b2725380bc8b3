package check

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestClaimTells: what is missing is the promise of the role that took the turn, where its criteria ask for one
// (S2-62).
func TestClaimTells(t *testing.T) {
	tester := func(r task.Role) string { return map[task.Role]string{task.Tester: "TESTS_OK"}[r] }
	const ask, askPromise = "The last attempt did not end with <response>DONE</response>. When the task is done, end " +
		"your last message with it.",
		"No completion promise found. The last attempt did not end with <promise>TESTS_OK</promise>. When the task is " +
			"done, end your last message with it."
	for _, tt := range []struct {
		name         string
		role         task.Role
		claim        loop.Claim
		reason, tell string
	}{
		{"nothing, of a role without a promise", task.Coder, loop.Claim{}, "the agent does not claim to be done", ask},
		{"another response", task.Coder, loop.Claim{Tag: "response", Text: "no"},
			`the agent's <response> says "no", which is not the completion response`, ask},
		{"nothing", task.Tester, loop.Claim{}, "No completion promise found", askPromise},
		{"another promise", task.Tester, loop.Claim{Tag: "promise", Text: "COMPLETE"},
			`the agent's <promise> says "COMPLETE", which is not its promise "TESTS_OK"`, askPromise},
		{"a response where a promise is wanted", task.Tester, loop.Claim{Tag: "response", Text: "DONE"},
			`No completion promise found: the agent's <response> says "DONE", not its promise "TESTS_OK"`,
			askPromise},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Claim{Completion: "DONE", Promise: tester}
			v, err := c.Run(t.Context(), Input{Iteration: loop.Iteration{Role: tt.role, Turn: loop.Turn{Claim: tt.claim}}})
			if err != nil || v.Pass || v.Reason != tt.reason || v.PromptText != tt.tell || len(v.Hash) != 8 {
				t.Errorf("verdict = %+v, %v", v, err)
			}
		})
	}
	if v, err := (Claim{}).Run(t.Context(), Input{Iteration: loop.Iteration{Turn: claimed}}); err != nil || !v.Pass {
		t.Errorf("verdict = %+v, %v", v, err)
	}
}
