package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Plan says no when an iteration broke the rules of its plan (C8). What it did was put back when it was committed; here it is told.
type Plan struct{}

// Name is the check's name in verdicts.
func (Plan) Name() string { return loop.PlanCheck }

// Severity of a broken rule is hard.
func (Plan) Severity() loop.Severity { return loop.Hard }

// Needs nothing: a rule is broken by whoever was cut off, too.
func (Plan) Needs() Need { return Nothing }

func (Plan) onlooks() {}

// Run tells what was found when the iteration was committed.
func (Plan) Run(_ context.Context, at At) (loop.Verdict, error) {
	a := at.Iteration.Commit.Plan
	if a == nil || len(a.Violations) == 0 {
		return loop.Verdict{Pass: true}, nil
	}
	var all []string
	for _, v := range a.Violations {
		all = append(all, v.Text)
	}
	v := loop.Verdict{Reason: all[0], Output: loop.Excerpt(strings.Join(all, "\n"))}
	if more := len(all) - 1; more > 0 {
		v.Reason += fmt.Sprintf(" (and %d more)", more)
	}
	v.Tell = "The last iteration broke the rules of the plan, so what it did to them was taken back:\n\n- " + strings.Join(strings.Split(v.Output, "\n"), "\n- ")
	return v, nil
}

// Handed says no when an iteration did not hand its story on: not in for review, not reviewed, not in again. Work may take more than one
// iteration, so like a missing claim this is nothing that a run is stuck on.
type Handed struct {
	File string // "ralph/tasks.json"
}

// Name is the check's name in verdicts: in a plan, this is how an agent claims.
func (Handed) Name() string { return loop.ClaimCheck }

// Severity of a missing claim is hard.
func (Handed) Severity() loop.Severity { return loop.Hard }

// Needs a turn that is worth judging.
func (Handed) Needs() Need { return SomeWork }

func (Handed) onlooks() {}

// Run judges whether the story went one step on.
func (h Handed) Run(_ context.Context, at At) (loop.Verdict, error) {
	it := at.Iteration
	if it.Claimed() {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{Hash: failure.Signature(loop.ClaimCheck, "")}
	switch {
	case it.Mode == loop.Review:
		v.Reason = it.Story + " was not reviewed"
		v.Tell = fmt.Sprintf("The last iteration was to review %s, and gave no review that counts: end your last message with the JSON object that is asked for, and let %s say the same.", it.Story, h.File)
	case at.State.Rules().SkipReview:
		v.Reason = it.Story + " is not done yet"
		v.Tell = fmt.Sprintf("The last iteration did not finish %s. When it is done, set its passes to true in %s.", it.Story, h.File)
	default:
		v.Reason = it.Story + " was not handed in for review"
		v.Tell = fmt.Sprintf("The last iteration did not hand %s in. When it is done, set its reviewStatus to \"needs_review\" in %s.", it.Story, h.File)
	}
	return v, nil
}
