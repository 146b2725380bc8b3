package check

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Turn says no when the agent's turn did not end well: it was cut off, or ended with a failure of its own. That keeps
// the iteration from being done; where another check fails too, that one is the failure.
type Turn struct{}

// Name is the check's name in verdicts.
func (Turn) Name() string { return loop.AgentCheck }

// Severity of a broken turn is hard.
func (Turn) Severity() loop.Severity { return loop.Hard }

// Needs only the record.
func (Turn) Needs() Need { return ReadsOnly }

// Run judges the turn's class.
func (Turn) Run(_ context.Context, at Input) (loop.Verdict, error) {
	t := at.Iteration.Turn
	if t.Class == loop.OK {
		return loop.Verdict{Pass: true}, nil
	}
	how := "was cut off: "
	if t.Class == loop.Broke || t.Class == loop.Missing {
		how = "did not end well: "
	}
	return loop.Verdict{Reason: t.Reason, Exit: t.Exit, PromptText: "The last attempt " + how + t.Reason}, nil
}

// Claim says no when the agent does not claim to be done.
type Claim struct {
	Completion string
	// Promise is what a role must promise, where its criteria say so; empty: the completion response, or any usual
	// promise, will do. nil: no role has any.
	Promise func(r task.Role) string
	Last    bool // it is examined only when every hard check before it has passed
}

// Name is the check's name in verdicts.
func (Claim) Name() string { return loop.ClaimCheck }

// Severity of a missing claim is hard.
func (Claim) Severity() loop.Severity { return loop.Hard }

// Needs a turn that is worth judging.
func (c Claim) Needs() Need {
	if c.Last {
		return SomeWork | Green | ReadsOnly
	}
	return SomeWork | ReadsOnly
}

// Run judges the claim.
func (c Claim) Run(_ context.Context, at Input) (loop.Verdict, error) {
	claim := at.Iteration.Turn.Claim
	if at.Iteration.Claimed() {
		return loop.Verdict{Pass: true}, nil
	}
	promise := ""
	if c.Promise != nil {
		promise = c.Promise(cmp.Or(at.Iteration.Role, task.Coder))
	}
	v := loop.Verdict{Reason: c.reason(claim, promise)}
	v.Hash = failure.Signature(loop.ClaimCheck, "")
	tag := "<response>" + c.Completion + "</response>"
	if promise != "" {
		tag = "<promise>" + promise + "</promise>"
	}
	v.PromptText = fmt.Sprintf("The last attempt did not end with %s. When the task is done, end your last message with it.",
		tag)
	if claim.Left != "" {
		v.PromptText = claim.LeftOut() + " " + v.PromptText
	}
	if promise != "" {
		v.PromptText = "No completion promise found. " + v.PromptText
	}
	return v, nil
}

// reason is why a claim does not count. With a required promise, the promise is what is missing.
func (Claim) reason(claim loop.Claim, promise string) string {
	_, nothing := claim.Nothing()
	switch {
	case nothing:
		return "the agent says that nothing needs doing, but the run is of a prompt, or has changed files"
	case claim.Tag == "" && claim.Left != "":
		return "the agent does not claim to be done: its tag was " + claim.Left
	case claim.Tag == "" && promise == "":
		return "the agent does not claim to be done"
	case claim.Tag == "":
		return "No completion promise found"
	case promise == "":
		return fmt.Sprintf("the agent's <%s> says %q, which is not the completion response", claim.Tag, claim.Text)
	case claim.Tag == "promise":
		return fmt.Sprintf("the agent's <promise> says %q, which is not its promise %q", claim.Text, promise)
	}
	return fmt.Sprintf("No completion promise found: the agent's <%s> says %q, not its promise %q", claim.Tag,
		claim.Text, promise)
}

// flaky is what two runs on one tree say together.
func flaky(first, second loop.Verdict) loop.Verdict {
	second.Flaky = true
	if second.Pass {
		second.Reason, second.LogFile = "it failed once and passed once on the same tree: flaky", first.LogFile
		return second
	}
	second.Reason += "; it has passed on this very tree before, and failed twice now"
	second.PromptText = "The next check has passed on this very tree before, and failed twice now: it may depend on something " +
		"other than the code.\n" + second.PromptText
	return second
}
