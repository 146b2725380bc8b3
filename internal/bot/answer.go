package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// refuse makes a refusal visible: log, job summary and, for a command, one reaction (B-12).
func (a *Action) refuse(ctx context.Context, ev event.Event, refusal *event.Refusal) (loop.Result, error) {
	a.Runner.Notice("refused: " + refusal.Reason)
	a.Runner.Summary(a.redact(report.Refused(refusal, ev)))
	if !strings.EqualFold(refusal.Who, actionsSelf) && ev.Comment != nil {
		a.warn("reacting", a.github.React(ctx, ev, "-1"))
	}
	result := loop.Result{Outcome: loop.Refused, Reason: refusal.Reason}
	return result, a.outputs(result, "")
}

const actionsSelf = "github-actions[bot]"

// reject tells the person who asked what is wrong with the request; nothing else has happened.
func (a *Action) reject(ctx context.Context, ev event.Event, err error) (loop.Result, error) {
	a.Runner.Error(a.redact(err.Error()))
	text := a.rejected(err)
	a.Runner.Summary(a.redact(text))
	if ev.Issue != nil || ev.On != 0 {
		a.warn("answering", a.answer(ctx, ev, text))
	}
	a.labelOff(ctx, ev)
	result := loop.Result{Outcome: loop.Invalid, Reason: err.Error()}
	return result, errors.Join(invalid.AsReported(err), a.outputs(result, ""))
}

// labelOff takes the label that asked off the issue or the pull request that it is on: put on again, it asks again.
func (a *Action) labelOff(ctx context.Context, ev event.Event) {
	if ev.Kind != event.Labeled || !strings.EqualFold(ev.Label, a.rules.TriggerLabel) {
		return
	}
	number := ev.On
	if number == 0 && ev.Issue != nil {
		number = ev.Issue.Number
	}
	if number != 0 {
		a.warn("changing labels", a.github.RemoveLabel(ctx, number, a.rules.TriggerLabel))
	}
}

// answer posts one comment.
func (a *Action) answer(ctx context.Context, ev event.Event, text string) error {
	number := ev.On
	if number == 0 && ev.Issue != nil {
		number = ev.Issue.Number
	}
	if number == 0 {
		a.log("%s", text)
		return nil
	}
	body := answerMarker(ev, a.Env.RunID) + "\n" + a.redact(text)
	if a.Env.RunAttempt > 1 { // the attempt before may have answered
		if id, err := a.github.FindComment(ctx, number, answerMarker(ev, a.Env.RunID)); err == nil && id != 0 {
			return nil
		}
	}
	_, err := a.github.Comment(ctx, number, body)
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
