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
		return a.inputError(err)
	}
	ev, refusal, err := a.requested(ctx, ev) // where a server has dispatched the workflow: what someone asked with
	if err != nil {
		return a.notDecided(ctx, ev, err)
	}
	if refusal != nil {
		return a.refuse(ctx, ev, refusal)
	}
	d, err := a.decide(ctx, jobReader{a}, a.unread(ev)) // who asks, what they may, which run it is about: every read, once
	if err != nil {
		return a.notDecided(ctx, ev, err)
	}
	return a.Do(ctx, d) // and tell
}

// Do does what was decided.
func (a *Action) Do(ctx context.Context, d Decision) (loop.Result, error) {
	request := d.Request
	if told, result, err := a.mistaken(ctx, d); told {
		return result, err
	}
	switch d.Step {
	case DoNothing:
		a.log("nothing to do: %s", d.Why)
		return loop.Result{}, nil
	case Refuse:
		return a.refuse(ctx, request.Event, d.Refusal) // visible, never a comment war
	case Answer:
		return loop.Result{}, a.answer(ctx, request.Event, a.rejected(ctx, request.Event, d.Err))
	case Reject:
		return a.reject(ctx, request.Event, d.Err)
	case Decline:
		return a.decline(ctx, request.Event, d.Row)
	case Help:
		return loop.Result{}, a.answer(ctx, request.Event, event.HelpText(a.rules.TriggerPhrase))
	case Status:
		return loop.Result{}, a.status(ctx, request.Event, d.Run, d.Known)
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
		return a.takeUp(ctx, d)
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
	if a.github == nil { // no one can be told but the job
		return a.inputError(err)
	}
	return a.notOpened(ctx, ev, err)
}

// takeUp continues with a run that an earlier attempt of this job began. Where that cannot be, the request stands as it
// is.
func (a *Action) takeUp(ctx context.Context, d Decision) (loop.Result, error) {
	if request, facts, ok := a.orphan(ctx, d.Request.Event, d.Run); ok {
		return a.work(ctx, request, facts)
	}
	d.Reads.Job.Anew = true
	return a.Do(ctx, Decide(d.Reads))
}

// worked are the steps that take turns of an agent.
var worked = []Step{Work, TakeUp, GoOnPlan, DerivePlan, Fix, Builds, Sweep}

// mistaken tells who asked for a run what is wrong with the settings that a server has read, and reports whether
// something was.
func (a *Action) mistaken(ctx context.Context, d Decision) (told bool, result loop.Result, err error) {
	if a.Server == nil || a.Server.Mistake == nil || !slices.Contains(worked, d.Step) {
		return false, result, nil
	}
	mistake := a.Server.Mistake
	if d.Step == Sweep || d.Step == Builds { // on a schedule
		a.log("nothing is resumed: %v", mistake)
		return true, loop.Result{Outcome: loop.Invalid, Reason: mistake.Error()}, nil
	}
	result, err = a.reject(ctx, d.Request.Event, invalid.Mark(mistake))
	return true, result, err
}
