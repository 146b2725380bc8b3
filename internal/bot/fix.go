package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
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
		return a.notOpened(ctx, r.Event, &heldError{fmt.Sprintf("there is nothing to take up: pull request #%d has no open "+
			"thread by anybody with write access, and no review of theirs requests changes; say what to change with %s fix "+
			"and your words",
			s.Post.Pull, a.rules.TriggerPhrase)})
	}
	wanted := goingOn(s)
	wanted.Issue, wanted.feedback = s.Start.Issue, asked
	wanted.Asked, wanted.Hint = r.Event.Sender.Login, safetext.FirstBytes(safetext.Sanitise(r.Hint), engine.MaxHint)
	return a.workOn(ctx, r, *wanted)
}

// feedback is what reviews ask for: the words of those that request changes, and every thread that is not resolved, as
// far as people with write access have written it and as it stood when it was asked for. nil: nothing.
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
		if s.Feedback != nil && review.At.Before(s.ResumedAt) && ev.Review == nil { // told when the run went on for it
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

// remark is what people who may ask said in a thread; ok is false when nobody did, or when ralph had the last word.
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

// reviews are those that request changes: the one of the event, or the newest of everybody.
func (a *Action) reviews(ctx context.Context, ev event.Event, pull int) ([]event.Review, error) {
	if ev.Review != nil {
		return []event.Review{*ev.Review}, nil
	}
	return a.github.Wanting(ctx, pull)
}

// reads reports whether the agent reads what somebody wrote.
func (a *Action) reads(ctx context.Context, facts *event.Facts, who event.Actor) bool {
	if who.Bot {
		return slices.ContainsFunc(a.rules.CommentsBy.Logins, func(l string) bool { return strings.EqualFold(l, who.Login) })
	}
	return a.rules.CommentsBy.Reads(who.Login, a.github.CanWrite(ctx, facts, who.Login))
}
