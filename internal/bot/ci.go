package bot

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// onCIResult continues with a run whose newest commit other workflows have judged: one that waits for them, and one that
// is done and failed there afterwards, within the iterations that are left. No one asks for it: the run was authorized
// when it began.
func (a *Action) onCIResult(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	wanted := goingOn(s)
	wanted.Issue = s.Start.Issue
	gated := func(v loop.Verdict) bool { return v.Waits && v.Check == (*check.CI).Name(nil) }
	if last := s.Last(); s.End != nil && s.End.Outcome == loop.Waiting && (last == nil || !slices.ContainsFunc(last.Verdicts, gated)) {
		a.log("nothing to do: the run %s does not wait for other workflows", s.Start.Run)
		return loop.Result{}, nil
	}
	if s.End != nil && s.End.Outcome == loop.Done {
		if len(s.Iterations) >= s.MaxIterations {
			a.log("nothing to do: %s has failed on the work of %s, whose %d iterations are used up", r.Event.Build.Name,
				s.Start.Task, s.MaxIterations)
			return loop.Result{}, nil
		}
		ci := a.ciCheck()
		builds, err := ci.Builds(ctx, s.Tip)
		if err != nil {
			return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
		}
		if len(builds.Failed) == 0 {
			a.log("nothing to do: nothing has failed on %.12s", s.Tip)
			return loop.Result{}, nil
		}
		wanted.feedback = &loop.Feedback{Text: safetext.FirstBytes(safetext.Sanitise(ci.Found(ctx, builds).PromptText),
			2*maxRemark)}
	}
	return a.workOn(ctx, r, *wanted)
}
