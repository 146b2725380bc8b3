package bot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
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

// handsOn reports whether a run is left for the next process of its job: the server wants this one to end, and no one
// wants the run to; or it has failed on a full disk, which is nothing of its own.
func (a *Action) handsOn(ctx, running context.Context, result loop.Result) bool {
	var stop *lease.StoppedError
	if a.Server == nil || errors.As(context.Cause(running), &stop) {
		return false
	}
	return ctx.Err() != nil && result.Outcome == loop.Interrupted ||
		result.Outcome == loop.Failed && full(a.Env.RalphWorkspace)
}

// full reports whether a directory takes no file of a megabyte, for want of room.
func full(dir string) bool {
	file, err := os.CreateTemp(dir, ".room-")
	if err == nil {
		_, err = file.Write(make([]byte, 1<<20))
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
}

// handOn leaves a run as one that has not come to its end: its record and its commits are on the remote, and no one
// holds it.
func (a *Action) handOn(ctx context.Context, work *job, result loop.Result) loop.Result {
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	a.warn("handing the run on", work.Journal.Finish(late))
	a.log("the run %s is left to the next process of its job", work.Journal.State().Start.Run)
	return loop.Result{Outcome: loop.Interrupted, Reason: "this process has ended; the run resumes in another",
		State: work.Journal.State()}
}

// notify tells others how the run ended. In a server's process that is the server's: the addresses never leave it.
func (a *Action) notify(ctx context.Context, work *job, result loop.Result) {
	view := work.view(result.State)
	if a.Server == nil {
		work.Notify(ctx, view, a.Env.RunURL())
		return
	}
	if n := work.Notice(view, a.Server.Page); n != nil && a.Server.Notice != nil {
		a.Server.Notice(*n)
	}
}

// reportOn writes what the runner shows: the job summary, and the reports as files, with all that the run's journal and
// commits tell.
func (a *Action) reportOn(ctx context.Context, work *job, result loop.Result) {
	v := work.view(result.State)
	a.Runner.Summary(report.Summary(v))
	file, err := engine.WriteReports("", a.reportDir(result.State.Start.Run), work.Detail(ctx, v, work.Journal.File.Bytes()))
	a.warn("writing the report", err)
	// in a container the workspace has another path
	if inside, err := filepath.Rel(a.Env.Workspace, file); err == nil && a.Env.Workspace != "" {
		file = inside
	}
	if result.Outcome == loop.Done || result.Outcome == loop.Waiting {
		a.Runner.Notice(a.mask(report.Notice(v)))
	} else {
		a.Runner.Error(a.mask(report.Notice(v)))
	}
	a.reportFile = file
}

// deliver opens the pull request of a run that is done and has none yet.
func (a *Action) deliver(ctx context.Context, work *job, result loop.Result) loop.Result {
	s := work.Journal.State()
	if result.Outcome != loop.Done || s.Post.Pull != 0 || s.Tip == "" || s.NoDiff() || work.Journal.Lost() != nil {
		return result
	}
	post, err := work.publisher.deliver(ctx, s)
	if err == nil && post != nil {
		_, err = work.Journal.Posted(ctx, post)
	}
	if err != nil {
		result.Outcome, result.ForPull = loop.Waiting, true
		result.Reason = err.Error()
	}
	result.State = work.Journal.State()
	return result
}

// record publishes and notes in the journal what resulted from it.
func (a *Action) record(ctx context.Context, work *job, publish func(context.Context, loop.State) *loop.Post) {
	post := publish(ctx, work.Journal.State())
	if post == nil {
		return
	}
	_, err := work.Journal.Store(loop.Record{Type: loop.Posted, At: a.Clock(), Post: post})
	a.warn("recording what was published", err)
}
