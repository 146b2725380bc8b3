package bot

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// work takes an authorized request to a pull request or a failure report.
func (a *Action) work(ctx context.Context, request event.Request, facts event.Facts) (loop.Result, error) {
	err := a.github.React(ctx, request.Event, "eyes") // the one call that says: seen
	if github.ErrForbidden(err) {
		err = a.github.React(ctx, request.Event, "eyes")
	}
	if github.ErrForbidden(err) { // then no result could be shown
		return a.reject(ctx, request.Event, invalid.Mark(err))
	}
	a.warn("reacting", err)
	wanted, err := a.workRequest(ctx, request, facts)
	if nothing := (*heldError)(nil); errors.As(err, &nothing) {
		return a.notOpened(ctx, request.Event, err)
	}
	if err != nil {
		return a.reject(ctx, request.Event, err) // says what is wrong, and what is allowed
	}
	return a.workOn(ctx, request, wanted)
}

// workOn takes what is needed to its outcome.
func (a *Action) workOn(ctx context.Context, request event.Request, wanted workRequest) (loop.Result, error) {
	running, work, err := a.open(ctx, request, &wanted) // lease, checkout, journal: fresh or resumed
	if err != nil {
		return a.notOpened(ctx, request.Event, err)
	}
	defer work.Close()

	a.record(running, work, work.publisher.begin)
	a.tellPlan(running, request.Event, wanted)
	obey := a.Runner.StopCommands() // what agents and checks print is text
	work.Hints = func(ctx context.Context, s loop.State) []loop.Hint { return a.hints(ctx, work, s) }
	result := work.Drive(running, running, work.Prompts)
	obey()

	if a.handsOn(ctx, running, result) {
		return a.handOn(ctx, work, result), nil
	}
	if ctx.Err() != nil {
		work.Journal.EndWithNextPush()
	}
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	result = a.deliver(late, work, result)
	result, err = work.Conclude(late, work.view, result) // push first
	if lost := work.Journal.Lost(); lost != nil {        // someone else reports it now
		return loop.Result{Outcome: loop.Failed, Reason: lost.Error(), State: work.Journal.State()}, lost
	}
	a.record(late, work, work.publisher.finish) // comment second
	for work.publisher.failed != nil && github.ErrAway(work.publisher.failed) && late.Err() == nil {
		engine.Wait(late, whileFinishing)
		a.record(late, work, work.publisher.finish)
	}
	a.warn("removing hints", work.Heartbeat.ForgetHints(late, work.Journal.State().HintIDs()))
	a.warn("saving where the reports are", work.Journal.Finish(late))
	result.State = work.Journal.State()
	a.reportOn(late, work, result)
	a.notify(late, work, result)
	return result, err
}
