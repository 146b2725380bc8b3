package check

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Turn says no when the agent's turn did not end by itself.
type Turn struct{}

// Name is the check's name in verdicts.
func (Turn) Name() string { return loop.AgentCheck }

// Severity of a broken turn is hard.
func (Turn) Severity() loop.Severity { return loop.Hard }

// Needs nothing.
func (Turn) Needs() Need { return Nothing }

// Run judges the turn's class.
func (Turn) Run(_ context.Context, at At) (loop.Verdict, error) {
	t := at.Iteration.Turn
	if t.Class == loop.OK {
		return loop.Verdict{Pass: true}, nil
	}
	return loop.Verdict{Reason: t.Reason, Exit: t.Exit, Tell: "The last attempt was cut off: " + t.Reason}, nil
}

// Claim says no when the agent does not claim to be done (C1).
type Claim struct {
	Completion string
	Last       bool // it is looked at only when every hard check before it has passed (S1-80)
}

// Name is the check's name in verdicts.
func (Claim) Name() string { return loop.ClaimCheck }

// Severity of a missing claim is hard.
func (Claim) Severity() loop.Severity { return loop.Hard }

// Needs a turn that is worth judging.
func (c Claim) Needs() Need {
	if c.Last {
		return SomeWork | Green
	}
	return SomeWork
}

// Run judges the claim.
func (c Claim) Run(_ context.Context, at At) (loop.Verdict, error) {
	claim := at.Iteration.Turn.Claim
	if claim.Done {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{Reason: "the agent does not claim to be done"}
	if claim.Tag != "" {
		v.Reason = fmt.Sprintf("the agent's <%s> says %q, which is not the completion response", claim.Tag, claim.Text)
	}
	v.Hash = failure.Signature(loop.ClaimCheck, "")
	v.Tell = fmt.Sprintf("The last attempt did not end with <response>%s</response>. When the task is done, end your last message with it.", c.Completion)
	return v, nil
}
