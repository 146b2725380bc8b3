// Package bot takes an event from GitHub to its report. run.go is the page to begin with.
package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Run takes one event from GitHub to its report. The outcome is empty for an event that is not ours.
func (a *Action) Run(ctx context.Context) (loop.Result, error) {
	result, err := a.run(ctx)
	return result, errors.Join(err, a.Runner.SetOutputs(outputsOf(result, a.reportFile)))
}

func (a *Action) run(ctx context.Context) (loop.Result, error) {
	a.prepare()
	defer a.disconnect(ctx)
	ev, err := a.event() // what has happened, from the runner
	if err != nil {
		return a.notDecided(ctx, ev, err)
	}
	ev, refusal, err := a.requested(ctx, ev) // where a server has dispatched the workflow: what someone asked with
	if err != nil {
		return a.notDecided(ctx, ev, err)
	}
	if refusal != nil {
		return a.to(ev).refuse(ctx, refusal)
	}
	d, err := a.decide(ctx, jobReader{a}, ev, a.Env.RunAttempt) // the requester, the permissions, the run: every read, once
	if err != nil {
		return a.notDecided(ctx, ev, err)
	}
	return a.Do(ctx, d) // and tell
}

// Do does what was decided.
func (a *Action) Do(ctx context.Context, d Decision) (loop.Result, error) {
	request, to := d.Request, a.to(d.Request.Event)
	if a.Server != nil && a.Server.Mistake != nil && slices.Contains(worked, d.Step) {
		mistake := a.Server.Mistake
		if d.Step != Sweep && d.Step != Builds {
			return to.reject(ctx, invalid.Mark(mistake))
		}
		a.log("nothing is resumed: %v", mistake) // no one has asked
		return loop.Result{Outcome: loop.Invalid, Reason: mistake.Error()}, nil
	}
	switch d.Step {
	case DoNothing:
		a.log("nothing to do: %s", d.Why)
		return loop.Result{}, nil
	case Refuse:
		return to.refuse(ctx, d.Refusal) // visible, never a comment war
	case Answer:
		return loop.Result{}, to.answer(ctx, to.rejected(ctx, d.Err))
	case Reject:
		return to.reject(ctx, d.Err)
	case Decline:
		return to.decline(ctx, d.Row)
	case Help:
		return loop.Result{}, to.answer(ctx, event.HelpText(a.rules.TriggerPhrase))
	case Status:
		return loop.Result{}, to.status(ctx, d.Run, d.Known)
	case Sweep:
		return a.sweep(ctx, request.Event, d.Facts)
	case DerivePlan:
		return a.plan(ctx, request, d.Facts)
	case Stop:
		return a.stop(ctx, request, d.Run, d.Row)
	case PassHint:
		return a.passHint(ctx, request, d.Run)
	case Fix:
		return a.fix(ctx, request, d.Run, d.Facts)
	case Builds:
		return a.onCIResult(ctx, request, d.Run)
	case GoOnPlan:
		return a.goOnWithPlan(ctx, request, d.Run)
	case ReportEnd:
		return a.tellEnd(ctx, request, d.Run)
	case TakeUp:
		if request, facts, ok := a.orphan(ctx, request.Event, d.Run); ok {
			return a.work(ctx, request, facts)
		}
		d.Reads.Job.Anew = true // it cannot be resumed, so the request counts as it is
		return a.Do(ctx, Decide(d.Reads))
	case Over:
		a.log("%s: %s", d.Run.Start.Task, d.Why)
		return loop.Result{Outcome: d.Run.End.Outcome, Reason: d.Run.End.Reason, Until: d.Run.End.Until, State: d.Run}, nil
	case Work:
		return a.work(ctx, request, d.Facts)
	}
	return loop.Result{Outcome: loop.Failed}, fmt.Errorf("doing what was decided: %q is no step", d.Step)
}

// notDecided tells that what the decision rests on could not be read.
func (a *Action) notDecided(ctx context.Context, ev event.Event, err error) (loop.Result, error) {
	if a.github == nil { // only the job's log can show it
		a.Runner.Error(a.redact(err.Error()))
		return loop.Result{Outcome: loop.Invalid, Reason: err.Error()}, invalid.AsReported(err)
	}
	return a.to(ev).notOpened(ctx, err)
}

// worked are the steps that take turns of an agent.
var worked = []Step{Work, TakeUp, GoOnPlan, DerivePlan, Fix, Builds, Sweep}
