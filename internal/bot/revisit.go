package bot

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// revisit opens a run that no one works on without taking a turn: change adds to its journal, and its outcome is told
// again.
func (a *Action) revisit(ctx context.Context, r event.Request, s loop.State,
	change func(context.Context, *job) error) (loop.Result, error) {
	work := &job{Run: &engine.Run{}}
	defer work.Close()
	running, root, err := a.lease(ctx, work.Run, s.Start.Task)
	if err != nil {
		return a.notOpened(ctx, r.Event, err)
	}
	if err := a.reread(running, work, r, s, root); err != nil {
		return a.notOpened(ctx, r.Event, err)
	}
	if err := change(running, work); err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	if lost := work.Journal.Lost(); lost != nil {
		return loop.Result{Outcome: loop.Failed, Reason: lost.Error(), State: work.Journal.State()}, lost
	}
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	a.record(late, work, work.publisher.finish)
	err = work.Journal.Finish(late)
	ended := work.Journal.State()
	result := loop.Result{Outcome: ended.End.Outcome, Reason: ended.End.Reason, State: ended}
	a.reportOn(late, work, result)
	return result, err
}

// reread makes the checkout of a run whose task we hold now, as the run stands.
func (a *Action) reread(ctx context.Context, work *job, r event.Request, s loop.State, root string) error {
	at, err := a.prepareWorkspace(ctx, work.Run, workplace{r, s.Start.Task, s.Start.Branch, root})
	if err != nil {
		return err
	}
	before, err := a.before(ctx, at.Tree, r.Event, false)
	if err != nil {
		return err
	}
	if before.state.Start.Run != s.Start.Run || before.state.Records != s.Records {
		return &heldError{s.Start.Task + " has resumed since; ask again"}
	}
	if err := at.Tree.UseBase(ctx, s.Start.Base); err != nil {
		return invalid.Mark(err)
	}
	set, err := a.readSettings(ctx, at.Tree)
	if err != nil { // they say who is told
		a.warn("reading the settings", err)
		set = config.Defaults()
	}
	work.Spec = at.spec(engine.WorkOn(at.Tree, a.host()), engine.Rules{Settings: set})
	book, err := journal.Import(root+"/runs/"+s.Start.Run, before.raw)
	if err != nil {
		return err
	}
	work.Cleanup = append(work.Cleanup, func() { _ = book.Close() })
	work.Heartbeat.Of(s.Start.Run)
	work.Journal = &engine.Journal{File: book, Tree: work.Tree, Clock: a.Clock, Heartbeat: work.Heartbeat,
		Remote: !a.Inputs.DryRun, Log: a.log, Token: a.github.Token, Redact: a.redact, Stored: a.stored}
	work.view = a.viewOn(ctx, work, r.Event)
	work.publisher = a.publisher(work, r.Event)
	work.publisher.again = true
	return nil
}

// closeRun gives a run that no one works on the outcome interrupted.
func (a *Action) closeRun(ctx context.Context, r event.Request, s loop.State, why string) (loop.Result, error) {
	return a.revisit(ctx, r, s, func(ctx context.Context, work *job) error {
		_, err := work.Journal.Append(ctx,
			loop.Record{Type: loop.Ended, At: a.Clock(), End: &loop.End{Outcome: loop.Interrupted, Reason: why}})
		return err
	})
}

// tellEnd shows the outcome of a run whose process died while it told (see publisher.finish).
func (a *Action) tellEnd(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	a.log("the outcome of %s was not reported everywhere; reporting it now", s.Start.Task)
	return a.revisit(ctx, r, s, func(context.Context, *job) error { return nil })
}

// errStillWaits says that a run which waits for its pull request continues waiting.
var errStillWaits = errors.New("the pull request cannot be opened yet")

// deliverLate opens the pull request that a run waits for, and tells that it is done. When GitHub does not open it now
// either, nothing is told again.
func (a *Action) deliverLate(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	result, err := a.revisit(ctx, r, s, func(ctx context.Context, work *job) error {
		s := work.Journal.State()
		post, err := work.publisher.deliver(ctx, s)
		if err != nil || post == nil {
			return errors.Join(errStillWaits, err)
		}
		if s, err = work.Journal.Posted(ctx, post); err != nil {
			return err
		}
		end := &loop.End{Outcome: loop.Done, Reason: s.DoneReason()}
		_, err = work.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		return err
	})
	if errors.Is(err, errStillWaits) {
		a.log("%s is skipped: %v", s.Start.Task, err)
		return loop.Result{}, nil
	}
	return result, err
}
