package bot

import (
	"context"
	"errors"
	"slices"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Elsewhere is what a server found in the settings of the repository before it gave the job to a process: that somebody
// else does what it decides, or that nobody does.
type Elsewhere struct {
	Workflow string // "ralph.yml": the repository's own workflow does it; "": this process does
	Mistake  error  // why no run may begin; nil: one may
	// Dispatched is the workflow that was started, once Run has come back; "" for none.
	Dispatched string
}

// worked are the steps that take turns of an agent.
var worked = []Step{Work, TakeUp, GoOnPlan, DerivePlan, Fix, Builds, Sweep}

// elsewhere reports whether a decision is not for this process to do, and has it done or refused then.
func (a *Action) elsewhere(ctx context.Context, d Decision) (handed bool, result loop.Result, err error) {
	if a.Server == nil || !slices.Contains(worked, d.Step) {
		return false, result, nil
	}
	ev := d.Request.Event
	switch at := &a.Server.Elsewhere; {
	case at.Mistake != nil && (d.Step == Sweep || d.Step == Builds): // nobody has asked
		a.log("nothing is taken up: %v", at.Mistake)
		return true, loop.Result{Outcome: loop.Invalid, Reason: at.Mistake.Error()}, nil
	case at.Mistake != nil:
		result, err = a.reject(ctx, ev, invalid.Mark(at.Mistake))
		return true, result, err
	case at.Workflow != "":
		result, err = a.dispatch(ctx, ev, at)
		return true, result, err
	}
	return false, result, nil
}

// dispatch has the repository's workflow do what was decided. It is told what somebody asked with, and reads and
// authorizes that itself.
func (a *Action) dispatch(ctx context.Context, ev event.Event, at *Elsewhere) (loop.Result, error) {
	from, ok := event.OriginOf(ev)
	if !ok {
		a.log("nothing to do: %s is for the triggers of the workflow %s itself", ev, at.Workflow)
		return loop.Result{}, nil
	}
	err := a.github.Dispatch(ctx, at.Workflow, ev.Repo.DefaultBranch, map[string]any{"request": from.String()})
	if refused := (*github.DispatchError)(nil); errors.As(err, &refused) {
		return a.reject(ctx, ev, invalid.Mark(err))
	}
	if err != nil {
		return a.notOpened(ctx, ev, err)
	}
	at.Dispatched = at.Workflow
	a.log("the workflow %s works on %s", at.Workflow, from)
	a.warn("reacting", a.react(ctx, ev, "rocket"))
	return loop.Result{Reason: "handed to the workflow " + at.Workflow}, nil
}
