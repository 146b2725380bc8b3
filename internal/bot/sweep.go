package bot

import (
	"context"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// sweep takes up what no one works on, at most max_tasks. The result is that of the last run, or of the first that did
// not end well.
func (a *Action) sweep(ctx context.Context, ev event.Event, facts event.Facts) (worst loop.Result, err error) {
	if a.Inputs.List {
		_, err := a.list(ctx, ev, facts)
		return loop.Result{}, err
	}
	left := a.Inputs.MaxTasks
	for p, err := range a.pending(ctx, ev, facts) {
		if err != nil {
			return worst, err
		}
		a.log("%s", p.row())
		result, err := a.workPending(ctx, p)
		if worst.Outcome == "" || worst.Outcome == loop.Done {
			worst = result
		}
		if err != nil {
			return worst, err
		}
		if left--; left == 0 {
			return worst, nil
		}
	}
	if left == a.Inputs.MaxTasks {
		a.log("nothing to do: no run was left behind, no issue waits with the label %s, and no plan of the settings is "+
			"left to do", a.rules.TriggerLabel)
	}
	return worst, nil
}

func (a *Action) workPending(ctx context.Context, p pending) (loop.Result, error) {
	switch {
	case p.untold != nil:
		return a.tellEnd(ctx, p.request, *p.untold)
	case p.undelivered != nil:
		return a.deliverLate(ctx, p.request, *p.undelivered)
	case p.plan != nil:
		return a.workOn(ctx, p.request, *p.plan)
	case p.request.Verb == event.Plan:
		return a.plan(ctx, p.request, p.facts)
	}
	return a.work(ctx, p.request, p.facts)
}
