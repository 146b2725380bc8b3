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

// revisit opens a run that no process works on, without a turn: change adds to its journal, and its outcome is reported
// again.
func (a *Action) revisit(ctx context.Context, r event.Request, s loop.State,
	change func(context.Context, *job) error) (loop.Result, error) {
	wanted := goingOn(s, "")
	j := &job{Action: a, request: r, wanted: &wanted}
	running, err := j.Hold(ctx, &engine.Run{})
	defer j.Close()
	if err == nil {
		err = j.reread(running, s)
	}
	if err != nil {
		return a.to(r.Event).notOpened(ctx, err)
	}
	if err := change(running, j); err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	if lost := j.Journal.Lost(); lost != nil {
		return loop.Result{Outcome: loop.Failed, Reason: lost.Error(), State: j.Journal.State()}, lost
	}
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	j.record(late, j.publisher.finish)
	err = j.Journal.Finish(late)
	ended := j.Journal.State()
	result := loop.Result{Outcome: ended.End.Outcome, Reason: ended.End.Reason, State: ended}
	j.reportOn(late, result)
	return result, err
}

// reread makes the checkout of a run whose task we hold now, as the run stands.
func (j *job) reread(ctx context.Context, s loop.State) error {
	at, err := workplace{j.Action, j.request, s.Start.Task, s.Start.Branch, j.root}.prepare(ctx)
	if err != nil {
		return err
	}
	before, err := j.before(ctx, at.Tree)
	if err != nil {
		return err
	}
	if before.state.Start.Run != s.Start.Run || before.state.Records != s.Records {
		return &heldError{s.Start.Task + " has resumed since; ask again"}
	}
	if err := at.Tree.UseBase(ctx, s.Start.Base); err != nil {
		return invalid.Mark(err)
	}
	set, err := j.readSettings(ctx, at.Tree)
	if err != nil { // they have the recipients of notifications
		j.warn("reading the settings", err)
		set = config.Defaults()
	}
	j.Spec = at.spec(engine.WorkOn(at.Tree, j.host()), engine.Rules{Settings: set})
	book, err := journal.Import(j.root+"/runs/"+s.Start.Run, before.raw)
	if err != nil {
		return err
	}
	j.OnClose(func() { _ = book.Close() })
	j.show(ctx, s.Start.Run, book, j.stored)
	j.Journal.Tree = j.Tree
	j.publisher.again = true
	return nil
}

// tellEnd shows the outcome of a run whose process died while it told (see publisher.finish).
func (a *Action) tellEnd(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	a.log("the outcome of %s was not reported everywhere; reporting it now", s.Start.Task)
	return a.revisit(ctx, r, s, func(context.Context, *job) error { return nil })
}

// errStillWaits says that a run which waits for its pull request continues waiting.
var errStillWaits = errors.New("the pull request cannot be opened yet")

// deliverLate opens the pull request that a run waits for, and reports that the run is done. If GitHub still does not
// open it, nothing is reported.
func (a *Action) deliverLate(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	result, err := a.revisit(ctx, r, s, func(ctx context.Context, j *job) error {
		s := j.Journal.State()
		post, err := j.publisher.deliver(ctx, s)
		if err != nil || post == nil {
			return errors.Join(errStillWaits, err)
		}
		if s, err = j.Journal.Posted(ctx, post); err != nil {
			return err
		}
		end := &loop.End{Outcome: loop.Done, Reason: s.DoneReason()}
		_, err = j.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		return err
	})
	if errors.Is(err, errStillWaits) {
		a.log("%s is skipped: %v", s.Start.Task, err)
		return loop.Result{}, nil
	}
	return result, err
}
