// Package bot takes an event from GitHub to its report. run.go is the page to begin with.
package bot

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Run takes one event from GitHub to its report. The outcome is empty for an event that is not ours.
func (a *Action) Run(ctx context.Context) (loop.Result, error) {
	a.prepare()
	ev, err := a.event()
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, a.inputError(err)
	}
	request, skip, usage := event.Read(ev, a.rules)
	if skip != nil {
		a.log("nothing to do: %s", skip.Reason)
		return loop.Result{}, nil
	}
	if a.github, err = a.connect(ctx, ev); err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	if request.Verb == event.Approve {
		a.github.Reserve(3) // see mayEdit and tellPlan
		a.github.RereadLater()
	}
	ev, facts, err := a.github.Gather(ctx, ev) // every read, once
	if err != nil {
		return loop.Result{Outcome: loop.Failed}, fmt.Errorf("gathering facts for %s: %w", ev, err)
	}
	request.Event = ev
	if why, own := event.Own(ev, facts.Self); own {
		a.log("nothing to do: %s", why)
		return loop.Result{}, nil
	}
	if why, withdrawn := facts.Withdrawn(ev); withdrawn && a.Env.RunAttempt <= 1 { // whoever runs a job again asks for it once more
		a.log("nothing to do: %s", why)
		return loop.Result{}, nil
	}
	if refusal := event.Authorise(ev, facts, a.rules); refusal != nil {
		return a.refuse(ctx, ev, refusal) // visible, never a comment war
	}
	if usage != nil {
		return loop.Result{}, a.answer(ctx, ev, report.Rejected(usage, a.rules.TriggerPhrase))
	}
	request, run, known, err := a.locate(ctx, request)
	if err != nil {
		return a.notOpened(ctx, ev, err)
	}
	if d, ok := decidedWithoutRun(request, a.rules); ok && d.Do != event.Tell {
		return a.decline(ctx, request.Event, d)
	}
	return a.follow(ctx, request, run, known, facts)
}

// follow does what is asked.
func (a *Action) follow(ctx context.Context, request event.Request, run loop.State, known bool, facts event.Facts) (loop.Result, error) {
	if result, ok, err := a.rerun(ctx, request); ok {
		return result, err
	}
	switch request.Verb {
	case event.Help:
		return loop.Result{}, a.answer(ctx, request.Event, event.HelpText(a.rules.TriggerPhrase))
	case event.Status:
		return loop.Result{}, a.status(ctx, request.Event, run, known)
	case event.Sweep:
		return a.sweep(ctx, request.Event, facts)
	case event.Plan:
		return a.plan(ctx, request, facts)
	case event.Stop:
		return a.stop(ctx, request, run, known)
	case event.Fix:
		return a.fix(ctx, request, run, known, facts)
	case event.Heed:
		return a.onCIResult(ctx, request, run, known)
	}
	if known && run.Start.Issue == 0 {
		return a.onPlan(ctx, request, run)
	}
	return a.work(ctx, request, facts)
}

// onPlan goes on with the run of a plan in the repository, asked for on its pull request.
func (a *Action) onPlan(ctx context.Context, request event.Request, run loop.State) (loop.Result, error) {
	if run.Start.Plan == nil || request.Fresh || request.Verb == event.Approve {
		return a.reject(ctx, request.Event, invalid.Errorf("pull request #%d is of %s, not of an issue; here it can be resumed with %s retry, and it begins afresh with a dispatch of the workflow",
			request.Event.On, run.Start.Task, a.rules.TriggerPhrase))
	}
	a.warn("reacting", a.github.React(ctx, request.Event, "eyes"))
	of := goingOn(run)
	of.Hint = safetext.Clipped(event.Sanitise(request.Hint), maxHint)
	request.PlanFile = run.Start.Plan.File
	return a.workOn(ctx, request, *of)
}
