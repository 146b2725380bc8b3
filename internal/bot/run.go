// Package bot takes an event from GitHub to its report. run.go is the page to begin with.
package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Action is ralph as a step of a workflow.
type Action struct {
	Env    config.Environment
	Inputs config.Inputs
	Parent []string // the environment, NAME=value, of which children get what is allowed
	Runner *actions.Runner
	Clock  func() time.Time

	github *github.Client
	rules  event.Rules
	redact func(string) string
	stored func(loop.Record)                          // see ledger
	wall   time.Duration                              // see workshop
	beat   <-chan time.Time                           // see beats
	pause  func(context.Context, time.Duration) error // see ciCheck; nil: real time
	tune   func(*github.Options)                      // nil: as they are
}

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

// work takes an authorised request to a pull request or a failure report.
func (a *Action) work(ctx context.Context, request event.Request, facts event.Facts) (loop.Result, error) {
	a.warn("reacting", a.github.React(ctx, request.Event, "eyes")) // the one call that says: seen
	wanted, err := a.workRequest(ctx, request, facts)
	if nothing := (*heldError)(nil); errors.As(err, &nothing) {
		return a.notOpened(ctx, request.Event, err)
	}
	if err != nil {
		return a.reject(ctx, request.Event, err) // says what is wrong, and what is allowed
	}
	return a.workOn(ctx, request, wanted)
}

// workOn takes what is wanted to its outcome.
func (a *Action) workOn(ctx context.Context, request event.Request, wanted workRequest) (loop.Result, error) {
	running, work, err := a.open(ctx, request, &wanted) // lease, checkout, journal: fresh or resumed
	if err != nil {
		return a.notOpened(ctx, request.Event, err)
	}
	defer work.Close()

	a.record(running, work, work.publisher.begin)
	a.tellPlan(running, request.Event, wanted)
	obey := a.Runner.StopCommands() // what agents and checks print is text
	result := engine.Drive(running, running, work.Spec, work.Journal, work.Prompts)
	obey()

	if ctx.Err() != nil {
		work.Journal.EndWithNextPush()
	}
	late, cancel := afterCancel(ctx)
	defer cancel()
	result = a.deliver(late, work, result)
	result, err = engine.Conclude(late, work.Spec, work.Journal, work.view, result) // push first
	if lost := work.Journal.Lost(); lost != nil {                                   // somebody else tells of it now
		return loop.Result{Outcome: loop.Failed, Reason: lost.Error(), State: work.Journal.State()}, lost
	}
	a.record(late, work, work.publisher.finish) // comment second
	a.warn("saving where the reports are", work.Journal.Finish(late))
	result.State = work.Journal.State()
	return result, errors.Join(err, a.reportOn(late, work, result))
}

// afterCancel is the time for reports: all that a cancelled job still has (C11), or plenty.
func afterCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	left := 2 * time.Minute
	if ctx.Err() != nil {
		left = 4 * time.Second
	}
	return context.WithTimeout(context.WithoutCancel(ctx), left)
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

func (a *Action) task(ctx context.Context, request event.Request, facts event.Facts) (task.Task, error) {
	if a.Inputs.PromptFile != "" && request.Event.Issue == nil {
		return task.Task{ID: promptFileTask}, nil // read from the base commit, once there is a checkout
	}
	t, err := task.From(request, facts)
	if err != nil {
		return t, invalid.Mark(err)
	}
	if facts.Dropped > 0 {
		a.log("%d comments are left out: their authors' permissions were not looked up", facts.Dropped)
	}
	return t, ctx.Err()
}

const promptFileTask = "prompt-file"

// record publishes and notes in the journal what came of it.
func (a *Action) record(ctx context.Context, work *job, publish func(context.Context, loop.State) *loop.Post) {
	post := publish(ctx, work.Journal.State())
	if post == nil {
		return
	}
	_, err := work.Journal.Store(loop.Record{Type: loop.Posted, At: a.Clock(), Post: post})
	a.warn("recording what was published", err)
}

func (a *Action) log(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Runner, a.mask(fmt.Sprintf(format, args...)))
}

func (a *Action) mask(s string) string {
	if a.redact == nil {
		return s
	}
	return a.redact(s)
}

func (a *Action) warn(doing string, err error) {
	if err != nil {
		a.log("%s: %v", doing, err)
	}
}

func (a *Action) inputError(err error) error {
	a.Runner.Error(a.mask(err.Error()))
	result := loop.Result{Outcome: loop.Invalid, Reason: err.Error()}
	return errors.Join(invalid.AsReported(err), a.outputs(result, ""))
}
