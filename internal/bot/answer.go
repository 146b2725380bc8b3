package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// refuse makes a refusal visible: log, job summary and, for a command, one reaction.
func (a *Action) refuse(ctx context.Context, ev event.Event, refusal *event.Refusal) (loop.Result, error) {
	a.Runner.Notice("refused: " + refusal.Reason)
	a.Runner.Summary(a.redact(report.Refused(refusal, ev)))
	if !strings.EqualFold(refusal.Who, actionsSelf) && ev.Comment != nil {
		a.warn("reacting", a.github.React(ctx, ev, "-1"))
	}
	return loop.Result{Outcome: loop.Refused, Reason: refusal.Reason}, nil
}

const actionsSelf = "github-actions[bot]"

// reject tells the person who asked what is wrong with the request; nothing else has happened.
func (a *Action) reject(ctx context.Context, ev event.Event, err error) (loop.Result, error) {
	a.Runner.Error(a.redact(err.Error()))
	text := a.rejected(ctx, ev, err)
	a.Runner.Summary(a.redact(text))
	if number(ev) != 0 {
		a.warn("answering", a.answer(ctx, ev, text))
	}
	a.labelOff(ctx, ev)
	return loop.Result{Outcome: loop.Invalid, Reason: err.Error()}, invalid.AsReported(err)
}

// labelOff takes the label that asked off the issue or the pull request that it is on: put on again, it asks again.
func (a *Action) labelOff(ctx context.Context, ev event.Event) {
	if ev.Kind != event.Labeled || !strings.EqualFold(ev.Label, a.rules.TriggerLabel) {
		return
	}
	if n := number(ev); n != 0 {
		a.warn("changing labels", a.github.RemoveLabel(ctx, n, a.rules.TriggerLabel))
	}
}

// number is the issue or pull request that an answer goes to; 0 when there is none.
func number(ev event.Event) int {
	if ev.On == 0 && ev.Issue != nil {
		return ev.Issue.Number
	}
	return ev.On
}

// answer posts one comment.
func (a *Action) answer(ctx context.Context, ev event.Event, text string) error {
	on := number(ev)
	if on == 0 {
		a.log("%s", text)
		return nil
	}
	body := answerMarker(ev, a.Env.RunID) + "\n" + a.redact(text)
	if a.Env.RunAttempt > 1 { // the attempt before may have answered
		if id, err := a.github.FindComment(ctx, on, answerMarker(ev, a.Env.RunID)); err == nil && id != 0 {
			return nil
		}
	}
	_, err := a.github.Comment(ctx, on, body)
	return err
}

// answerMarker is the first line of the answer to an event, by which a job that is run again finds it.
func answerMarker(ev event.Event, job int64) string {
	switch {
	case ev.Comment != nil:
		return report.Marker(fmt.Sprintf("answer.comment.%d", ev.Comment.ID))
	case ev.Review != nil:
		return report.Marker(fmt.Sprintf("answer.review.%d", ev.Review.ID))
	}
	return report.Marker(fmt.Sprintf("answer.job.%d", job))
}

// notOpened answers a request that came to nothing.
func (a *Action) notOpened(ctx context.Context, ev event.Event, err error) (loop.Result, error) {
	var held *heldError
	var stop *lease.StoppedError
	var denied *git.AccessError
	switch {
	case errors.As(err, &stop):
		a.Runner.Notice(a.mask(stop.Error()))
		return loop.Result{Outcome: loop.Interrupted, Reason: stop.Error()}, nil
	case errors.As(err, &held):
		a.Runner.Notice(a.mask(held.reason))
		a.warn("answering", a.answer(ctx, ev, safetext.UpperFirst(held.reason)+"."))
		a.labelOff(ctx, ev)
		return loop.Result{}, nil
	case invalid.Is(err), errors.As(err, &denied), github.ErrGone(err), github.ErrForbidden(err):
		return a.reject(ctx, ev, invalid.Mark(err))
	case ctx.Err() != nil:
		return loop.Result{Outcome: loop.Interrupted, Reason: "canceled before the run started"}, nil
	}
	return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
}

// decline answers the comment or the label with the reason why no run starts, and removes the label. The log and the
// job show the reason in any case.
func (a *Action) decline(ctx context.Context, ev event.Event, d event.Decision) (loop.Result, error) {
	if d.Do == event.Ignore {
		a.log("nothing to do: %s", d.Why)
		return loop.Result{}, nil
	}
	return a.notOpened(ctx, ev, &heldError{d.Why})
}

func (a *Action) inputError(err error) (loop.Result, error) {
	a.Runner.Error(a.mask(err.Error()))
	return loop.Result{Outcome: loop.Invalid, Reason: err.Error()}, invalid.AsReported(err)
}

// react answers a comment with a reaction. Labels and closings have nothing of their own to react to.
func (a *Action) react(ctx context.Context, ev event.Event, content string) error {
	if ev.Comment == nil {
		return nil
	}
	return a.github.React(ctx, ev, content)
}

// status answers /ralph status from the run record on the remote.
func (a *Action) status(ctx context.Context, ev event.Event, run loop.State, known bool) error {
	if !known && ev.Issue.Pull {
		return a.answer(ctx, ev, fmt.Sprintf("ralph has no run on pull request #%d, which ralph did not open.", ev.Issue.Number))
	}
	if !known {
		return a.answer(ctx, ev, report.NoStatus(a.rules.TriggerPhrase, ev.Issue.Number))
	}
	a.readWays(ctx, ev)
	v := a.view(run)
	if label := a.rules.StatusLabel(github.LabelRunning); ev.Issue != nil && slices.Contains(ev.Issue.Labels, label) {
		v.Running = label
	}
	return a.answer(ctx, ev, report.Status(v))
}

// rejected tells what is wrong with a request: of a plan everything, so that it is fixed at once.
func (a *Action) rejected(ctx context.Context, ev event.Event, err error) string {
	var wrong *plan.Error
	if !errors.As(err, &wrong) {
		return report.Rejected(a.offers(ctx, ev), err)
	}
	return "The plan is not run, and nothing has begun. What is wrong with it:\n\n" +
		fenced(strings.Split(wrong.Error(), "\n")) +
		fmt.Sprintf("\nEdit the plan's comment, then comment `%s approve` again.\n", a.rules.TriggerPhrase)
}

// fenced shows lines as they are: no one is mentioned by them, and nothing in them is Markdown.
func fenced(lines []string) string { return safetext.Fence(strings.Join(lines, "\n")) }
