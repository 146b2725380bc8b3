package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Limits of what a run gets from reviews: remarks, and bytes of one.
const (
	maxRemarks = 50
	maxRemark  = 4 << 10
)

// fix works on what the reviews of the pull request ask for, on the same branch.
func (a *Action) fix(ctx context.Context, r event.Request, s loop.State, facts event.Facts) (loop.Result, error) {
	a.warn("reacting", a.to(r.Event).react(ctx, "eyes"))
	a.to(r.Event).labelOff(ctx) // of the pull request; that of the issue is the run's
	asked, err := (&reviewed{a, r, s, facts}).feedback(ctx)
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	if asked == nil && r.Hint == "" {
		return a.to(r.Event).notOpened(ctx, &heldError{wording.JoinedBy("; ", fmt.Sprintf("there is nothing to fix: pull request "+
			"#%d has no open thread by someone with write access, and no review of theirs requests changes", s.Post.Pull),
			a.offers(ctx, r.Event).Offer("fix <what to change>", "asks for it"))})
	}
	wanted := goingOn(s, r.Hint)
	wanted.Asked, wanted.feedback = r.Event.Sender.Login, asked
	return a.workOn(ctx, r, wanted)
}

// reviewed is what people said on the pull request of a run.
type reviewed struct {
	*Action
	request event.Request
	run     loop.State
	facts   event.Facts
}

// feedback is what reviews ask for: the words of those that request changes, and every unresolved thread, as far as
// people with write access wrote it and as it was at the time of the request. nil: nothing.
func (r *reviewed) feedback(ctx context.Context) (*loop.Feedback, error) {
	ev, s := r.request.Event, r.run
	threads, err := r.github.Threads(ctx, s.Post.Pull)
	if err != nil {
		return nil, err
	}
	reviews := []event.Review{}
	if ev.Review != nil {
		reviews = append(reviews, *ev.Review)
	} else if reviews, err = r.github.Wanting(ctx, s.Post.Pull); err != nil {
		return nil, err
	}
	reads := func(c event.Comment) bool {
		return !c.CreatedAt.After(ev.At) && !c.UpdatedAt.After(ev.At) && r.reads(ctx, c.Author)
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
		if remark, ok := r.remark(t, reads); ok {
			out.Items = append(out.Items, remark)
		}
	}
	if out.Text == "" && len(out.Items) == 0 {
		return nil, nil
	}
	return out, nil
}

// remark is what people who may ask said in a thread; ok is false when no one did, or when ralph had the last word.
func (r *reviewed) remark(t github.Thread, reads func(event.Comment) bool) (loop.Remark, bool) {
	out := loop.Remark{ID: t.First, Path: t.Path, Line: t.Line}
	var said []string
	for _, c := range t.Comments {
		if strings.EqualFold(c.Author.Login, r.github.Self()) {
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

// reads reports whether the agent reads what someone wrote.
func (r *reviewed) reads(ctx context.Context, who event.Actor) bool {
	return r.rules.CommentsBy.Reads(who.Login, !who.Bot && r.github.CanWrite(ctx, &r.facts, who.Login))
}

// onCIResult continues with a run whose newest commit other workflows have judged: one that waits for them, and one that
// is done and failed there afterwards, within the iterations that are left. No one asks for it: the run was authorized
// when it began.
func (a *Action) onCIResult(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	wanted := goingOn(s, "")
	gated := func(v loop.Verdict) bool { return v.Waits && v.Check == (*check.CI).Name(nil) }
	if last := s.Last(); s.End != nil && s.End.Outcome == loop.Waiting && (last == nil || !slices.ContainsFunc(last.Verdicts, gated)) {
		a.log("nothing to do: the run %s does not wait for other workflows", s.Start.Run)
		return loop.Result{}, nil
	}
	if s.End != nil && s.End.Outcome == loop.Done {
		if len(s.Iterations) >= s.MaxIterations {
			a.log("nothing to do: %s has failed on the work of %s, whose %d iterations are used up", r.Event.Build.Name,
				s.Start.Task, s.MaxIterations)
			return loop.Result{}, nil
		}
		ci := a.ciCheck()
		builds, err := ci.Builds(ctx, s.Tip)
		if err != nil {
			return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
		}
		if len(builds.Failed) == 0 {
			a.log("nothing to do: nothing has failed on %.12s", s.Tip)
			return loop.Result{}, nil
		}
		wanted.feedback = &loop.Feedback{Text: safetext.FirstBytes(safetext.Sanitise(ci.Found(ctx, builds).PromptText),
			2*maxRemark)}
	}
	return a.workOn(ctx, r, wanted)
}

// goOnWithPlan continues with the run of a plan in the repository, asked for on its pull request.
func (a *Action) goOnWithPlan(ctx context.Context, request event.Request, run loop.State) (loop.Result, error) {
	a.warn("reacting", a.github.React(ctx, request.Event, "eyes"))
	request.PlanFile = run.Start.Plan.File
	return a.workOn(ctx, request, goingOn(run, request.Hint))
}
