package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/derive"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// reply answers an event.
type reply struct {
	*Action
	ev event.Event
}

// to answers an event.
func (a *Action) to(ev event.Event) reply { return reply{a, ev} }

// refuse makes a refusal visible: log, job summary and, for a command, one reaction.
func (r reply) refuse(ctx context.Context, refusal *event.Refusal) (loop.Result, error) {
	r.Runner.Notice("refused: " + refusal.Reason)
	r.Runner.Summary(r.redact(report.Refused(refusal, r.ev)))
	if !strings.EqualFold(refusal.Who, actionsSelf) && r.ev.Comment != nil {
		r.warn("reacting", r.github.React(ctx, r.ev, "-1"))
	}
	return loop.Result{Outcome: loop.Refused, Reason: refusal.Reason}, nil
}

const actionsSelf = "github-actions[bot]"

// reject tells the person who asked what is wrong with the request; nothing else has happened.
func (r reply) reject(ctx context.Context, err error) (loop.Result, error) {
	r.Runner.Error(r.redact(err.Error()))
	text := r.rejected(ctx, err)
	r.Runner.Summary(r.redact(text))
	if number(r.ev) != 0 {
		r.warn("answering", r.answer(ctx, text))
	}
	r.labelOff(ctx)
	return loop.Result{Outcome: loop.Invalid, Reason: err.Error()}, invalid.AsReported(err)
}

// labelOff takes the label that asked off the issue or the pull request that it is on: put on again, it asks again.
func (r reply) labelOff(ctx context.Context) {
	if r.ev.Kind != event.Labeled || !strings.EqualFold(r.ev.Label, r.rules.TriggerLabel) {
		return
	}
	if n := number(r.ev); n != 0 {
		r.warn("changing labels", r.github.RemoveLabel(ctx, n, r.rules.TriggerLabel))
	}
}

// number is the issue or pull request that an answer goes to; 0: none.
func number(ev event.Event) int {
	if ev.On == 0 && ev.Issue != nil {
		return ev.Issue.Number
	}
	return ev.On
}

// answer posts one comment.
func (r reply) answer(ctx context.Context, text string) error {
	on := number(r.ev)
	if on == 0 {
		r.log("%s", text)
		return nil
	}
	body := answerMarker(r.ev, r.Env.RunID) + "\n" + r.redact(text)
	_, err := r.github.Comment(ctx, on, body, r.Env.RunAttempt > 1) // the attempt before may have answered
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

// notOpened answers a request for which no run was opened.
func (r reply) notOpened(ctx context.Context, err error) (loop.Result, error) {
	var held *heldError
	var stop *lease.StoppedError
	var denied *git.AccessError
	switch {
	case errors.As(err, &stop):
		r.Runner.Notice(r.redact(stop.Error()))
		return loop.Result{Outcome: loop.Interrupted, Reason: stop.Error()}, nil
	case errors.As(err, &held):
		r.Runner.Notice(r.redact(held.reason))
		r.warn("answering", r.answer(ctx, safetext.UpperFirst(held.reason)+"."))
		r.labelOff(ctx)
		return loop.Result{}, nil
	case invalid.Is(err), errors.As(err, &denied), github.ErrGone(err), github.ErrForbidden(err):
		return r.reject(ctx, invalid.Mark(err))
	case ctx.Err() != nil:
		return loop.Result{Outcome: loop.Interrupted, Reason: "canceled before the run started"}, nil
	}
	return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
}

// decline answers the comment or the label with the reason why no run starts, and removes the label. The log and the
// job show the reason in any case.
func (r reply) decline(ctx context.Context, d event.Decision) (loop.Result, error) {
	if d.Do == event.Ignore {
		r.log("nothing to do: %s", d.Why)
		return loop.Result{}, nil
	}
	return r.notOpened(ctx, &heldError{d.Why})
}

// react answers a comment with a reaction. Labels and closings have nothing of their own to react to.
func (r reply) react(ctx context.Context, content string) error {
	if r.ev.Comment == nil {
		return nil
	}
	return r.github.React(ctx, r.ev, content)
}

// status answers /ralph status from the run record on the remote.
func (r reply) status(ctx context.Context, run loop.State, known bool) error {
	if !known && r.ev.Issue.Pull {
		return r.answer(ctx, fmt.Sprintf("ralph has no run on pull request #%d, which ralph did not open.", r.ev.Issue.Number))
	}
	if !known {
		return r.answer(ctx, report.NoStatus(r.rules.TriggerPhrase, r.ev.Issue.Number))
	}
	r.readWays(ctx, r.ev)
	v := r.view(run)
	if label := r.rules.StatusLabel(github.LabelRunning); r.ev.Issue != nil && slices.Contains(r.ev.Issue.Labels, label) {
		v.Running = label
	}
	return r.answer(ctx, report.Status(v))
}

// rejected tells what is wrong with a request: of a plan everything, so that it is fixed at once.
func (r reply) rejected(ctx context.Context, err error) string {
	var wrong *plan.Error
	var none *derive.FailedError
	if errors.As(err, &none) {
		return fmt.Sprintf("There is no plan: %d answers of the agent were invalid. Errors of the last one:\n\n%s\n%s\n", derive.Tries,
			fenced(none.Problems), wording.Sentence(r.offers(ctx, r.ev).Offer("plan <hint>", "asks again")))
	}
	if !errors.As(err, &wrong) {
		return report.Rejected(r.offers(ctx, r.ev), err)
	}
	return "The plan is not run, and nothing has begun. What is wrong with it:\n\n" +
		fenced(strings.Split(wrong.Error(), "\n")) +
		fmt.Sprintf("\nEdit the plan's comment, then comment `%s approve` again.\n", r.rules.TriggerPhrase)
}

// fenced shows lines as they are: no one is mentioned by them, and nothing in them is Markdown.
func fenced(lines []string) string { return safetext.Fence(strings.Join(lines, "\n")) }
