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
		return a.to(request.Event).reject(ctx, invalid.Mark(err))
	}
	a.warn("reacting", err)
	wanted, err := a.workRequest(ctx, request, facts)
	if nothing := (*heldError)(nil); errors.As(err, &nothing) {
		return a.to(request.Event).notOpened(ctx, err)
	}
	if err != nil {
		return a.to(request.Event).reject(ctx, err) // says what is wrong, and what is allowed
	}
	return a.workOn(ctx, request, wanted)
}

// workOn takes what is needed to its outcome.
func (a *Action) workOn(ctx context.Context, request event.Request, wanted workRequest) (loop.Result, error) {
	running, j, err := a.open(ctx, request, &wanted) // lease, checkout, journal: fresh or resumed
	if err != nil {
		return a.to(request.Event).notOpened(ctx, err)
	}
	defer j.Close()

	j.record(running, j.publisher.begin)
	j.tellPlan(running)
	obey := a.Runner.StopCommands() // what agents and checks print is text
	j.Hints = j.hints
	result := j.Drive(running, running, j.Prompts)
	obey()

	if j.handsOn(ctx, running, result) {
		return j.handOn(ctx, result), nil
	}
	if ctx.Err() != nil {
		j.Journal.EndWithNextPush()
	}
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	result = j.deliver(late, result)
	result, err = j.Conclude(late, j.view, result) // push first
	if lost := j.Journal.Lost(); lost != nil {     // someone else reports it now
		return loop.Result{Outcome: loop.Failed, Reason: lost.Error(), State: j.Journal.State()}, lost
	}
	j.record(late, j.publisher.finish) // comment second
	for j.publisher.failed != nil && github.ErrAway(j.publisher.failed) && late.Err() == nil {
		engine.Wait(late, whileFinishing)
		j.publisher.again = true
		j.record(late, j.publisher.finish)
	}
	a.warn("removing hints", j.Heartbeat.ForgetHints(late, j.Journal.State().HintIDs()))
	a.warn("saving where the reports are", j.Journal.Finish(late))
	result.State = j.Journal.State()
	j.reportOn(late, result)
	j.notify(late, result)
	return result, err
}

// handsOn reports whether a run is left for the next process of its job: the server wants this one to end, and no one
// wants the run to; or it has failed on a full disk, which is nothing of its own.
func (j *job) handsOn(ctx, running context.Context, result loop.Result) bool {
	var stop *lease.StoppedError
	if j.Server == nil || errors.As(context.Cause(running), &stop) {
		return false
	}
	return ctx.Err() != nil && result.Outcome == loop.Interrupted ||
		result.Outcome == loop.Failed && full(j.Env.RalphWorkspace)
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

// handOn leaves a run unfinished: its record and its commits are on the remote, and no process holds it.
func (j *job) handOn(ctx context.Context, result loop.Result) loop.Result {
	late, cancel := j.afterCancel(ctx)
	defer cancel()
	j.warn("handing the run on", j.Journal.Finish(late))
	j.log("the run %s is left to the next process of its job", j.Journal.State().Start.Run)
	return loop.Result{Outcome: loop.Interrupted, Reason: "this process has ended; the run resumes in another",
		State: j.Journal.State()}
}

// notify tells others how the run ended. In a server's process that is the server's: the addresses never leave it.
func (j *job) notify(ctx context.Context, result loop.Result) {
	view := j.view(result.State)
	if j.Server == nil {
		j.Notify(ctx, view, j.Env.RunURL())
		return
	}
	if n := j.Notice(view, j.Server.Page); n != nil && j.Server.Notice != nil {
		j.Server.Notice(*n)
	}
}

// reportOn writes what the runner shows: the job summary, and the reports as files, with all that the run's journal and
// commits tell.
func (j *job) reportOn(ctx context.Context, result loop.Result) {
	v := j.view(result.State)
	j.Runner.Summary(report.Summary(v))
	file, err := engine.WriteReports("", j.reportDir(result.State.Start.Run), j.Detail(ctx, v, j.Journal.File.Bytes()))
	j.warn("writing the report", err)
	// in a container the workspace has another path
	if inside, err := filepath.Rel(j.Env.Workspace, file); err == nil && j.Env.Workspace != "" {
		file = inside
	}
	if result.Outcome == loop.Done || result.Outcome == loop.Waiting {
		j.Runner.Notice(j.redact(report.Notice(v)))
	} else {
		j.Runner.Error(j.redact(report.Notice(v)))
	}
	j.reportFile = file
}

// deliver opens the pull request of a run that is done and has none yet. Where GitHub does not open one, which is the
// default for workflows of a new repository, the run is not done: it waits, and a sweep or someone's "continue" tries
// again without a turn of an agent.
func (j *job) deliver(ctx context.Context, result loop.Result) loop.Result {
	s := j.Journal.State()
	if result.Outcome != loop.Done || s.Post.Pull != 0 || s.Tip == "" || s.NoDiff() || j.Journal.Lost() != nil {
		return result
	}
	post, err := j.publisher.deliver(ctx, s)
	if err == nil && post != nil {
		_, err = j.Journal.Posted(ctx, post)
	}
	if err != nil {
		result.Outcome, result.ForPull = loop.Waiting, true
		result.Reason = err.Error()
	}
	result.State = j.Journal.State()
	return result
}

// record publishes and notes in the journal what resulted from it.
func (j *job) record(ctx context.Context, publish func(context.Context, loop.State) *loop.Post) {
	post := publish(ctx, j.Journal.State())
	if post == nil {
		return
	}
	_, err := j.Journal.Store(loop.Record{Type: loop.Posted, At: j.Clock(), Post: post})
	j.warn("recording what was published", err)
}
