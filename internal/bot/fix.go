package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// What a run is told of reviews.
const (
	maxRemarks = 50
	maxRemark  = 4 << 10
)

// fix works on what the reviews of the pull request ask for, on the same branch.
func (a *Action) fix(ctx context.Context, r event.Request, s loop.State, facts event.Facts) (loop.Result, error) {
	a.warn("reacting", a.react(ctx, r.Event, "eyes"))
	a.labelOff(ctx, r.Event) // of the pull request; that of the issue is the run's
	asked, err := a.feedback(ctx, r, s, facts)
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	if asked == nil && r.Hint == "" {
		return a.notOpened(ctx, r.Event, &heldError{wording.JoinedBy("; ", fmt.Sprintf("there is nothing to fix: pull request "+
			"#%d has no open thread by someone with write access, and no review of theirs requests changes", s.Post.Pull),
			a.offers(ctx, r.Event).Offer("fix <what to change>", "asks for it"))})
	}
	wanted := goingOn(s)
	wanted.Issue, wanted.feedback = s.Start.Issue, asked
	wanted.Asked, wanted.Hint = r.Event.Sender.Login, safetext.FirstBytes(safetext.Sanitise(r.Hint), engine.MaxHint)
	return a.workOn(ctx, r, *wanted)
}

// feedback is what reviews ask for: the words of those that request changes, and every thread that is not resolved, as
// far as people with write access have written it and as it was when it was asked for. nil: nothing.
func (a *Action) feedback(ctx context.Context, r event.Request, s loop.State, facts event.Facts) (*loop.Feedback,
	error) {
	ev := r.Event
	threads, err := a.github.Threads(ctx, s.Post.Pull)
	if err != nil {
		return nil, err
	}
	reviews, err := a.reviews(ctx, ev, s.Post.Pull)
	if err != nil {
		return nil, err
	}
	reads := func(c event.Comment) bool {
		return !c.CreatedAt.After(ev.At) && !c.UpdatedAt.After(ev.At) && a.reads(ctx, &facts, c.Author)
	}
	out := &loop.Feedback{By: ev.Sender.Login}
	for _, review := range reviews {
		if s.Feedback != nil && review.At.Before(s.ResumedAt) && ev.Review == nil { // told when the run continued for it
			continue
		}
		body := event.Comment{Author: review.Author, CreatedAt: review.At, UpdatedAt: review.At}
		if text := strings.TrimSpace(safetext.Sanitise(review.Body)); text != "" && reads(body) {
			out.Text = strings.TrimSpace(out.Text + "\n\n" + review.Author.Login + ": " + safetext.FirstBytes(text, maxRemark))
		}
	}
	for _, t := range threads[:min(len(threads), maxRemarks)] {
		if remark, ok := a.remark(t, reads); ok {
			out.Items = append(out.Items, remark)
		}
	}
	if out.Text == "" && len(out.Items) == 0 {
		return nil, nil
	}
	return out, nil
}

// remark is what people who may ask said in a thread; ok is false when no one did, or when ralph had the last word.
func (a *Action) remark(t github.Thread, reads func(event.Comment) bool) (loop.Remark, bool) {
	out := loop.Remark{ID: t.First, Path: t.Path, Line: t.Line}
	var said []string
	for _, c := range t.Comments {
		if strings.EqualFold(c.Author.Login, a.github.Self()) {
			said = nil // it is answered so far
			continue
		}
		text := strings.TrimSpace(safetext.Sanitise(c.Body))
		if text == "" || !reads(c) {
			continue
		}
		out.By = c.Author.Login
		said = append(said, c.Author.Login+": "+text)
	}
	out.Text = safetext.FirstBytes(strings.Join(said, "\n\n"), maxRemark)
	return out, len(said) > 0
}

// reviews are those that request changes: the one of the event, or the newest of everyone.
func (a *Action) reviews(ctx context.Context, ev event.Event, pull int) ([]event.Review, error) {
	if ev.Review != nil {
		return []event.Review{*ev.Review}, nil
	}
	return a.github.Wanting(ctx, pull)
}

// reads reports whether the agent reads what someone wrote.
func (a *Action) reads(ctx context.Context, facts *event.Facts, who event.Actor) bool {
	if who.Bot {
		return slices.ContainsFunc(a.rules.CommentsBy.Logins, func(l string) bool { return strings.EqualFold(l, who.Login) })
	}
	return a.rules.CommentsBy.Reads(who.Login, a.github.CanWrite(ctx, facts, who.Login))
}

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
