package loop

import (
	"context"
	"testing"
	"time"
)

// TestCheckSteps: the checks of a round are known before they run, and ticked off one by one.
func TestCheckSteps(t *testing.T) {
	tracker := &StepTracker{Clock: func() time.Time { return noon }}
	ctx := WithStepTracker(context.Background(), tracker)
	PlanChecks(ctx, []string{"build", "test"})
	end := BeginCheck(ctx, "build", 0)
	Doing(ctx, "go build ./...")
	if step, ok := tracker.Current(); !ok || step.Name != "the check build" || step.Doing != "go build ./..." {
		t.Errorf("the step is %+v", step)
	}
	end()
	EndCheck(ctx, Verdict{Check: "build", Pass: true})
	EndCheck(ctx, Verdict{Check: "claim", Pass: true}) // nobody has planned it, and it has nothing to say
	EndCheck(ctx, Verdict{Check: "diff"})
	list := tracker.Progress().Checks
	if len(list) != 3 || list[0].Verdict == nil || !list[0].Began.Equal(noon) || list[1].Verdict != nil ||
		!list[1].Began.IsZero() || list[2].Name != "diff" {
		t.Errorf("the checks are %+v", list)
	}
	PlanChecks(ctx, []string{"test"})
	if list = tracker.Progress().Checks; len(list) != 1 || list[0].Verdict != nil {
		t.Errorf("the checks of the next round are %+v", list)
	}
	PlanChecks(context.Background(), nil) // nobody looks
	EndCheck(context.Background(), Verdict{})
	Doing(context.Background(), "nothing")
}
