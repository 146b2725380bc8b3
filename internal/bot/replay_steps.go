package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// steps are what would be done. Where it depends on the standing of a run that nobody could look at, they are those of the first way in
// which something is begun.
func (x *explainer) steps(ctx context.Context) {
	d := x.out.Decisions[0]
	for _, other := range x.out.Decisions {
		if other.Do != event.Drop && other.Do != event.Ignore {
			d = other
			break
		}
	}
	if len(x.out.Decisions) > 1 {
		x.out.StepsFor = d.Do
	}
	ev := x.request.Event
	switch d.Do {
	case event.Ignore:
		x.step("say so in the log, and nothing else")
	case event.Drop:
		x.dropped(ev)
	case event.Tell:
		x.step("comment on #%d", number(ev))
	case event.TakeUp:
		x.takeUp(ctx)
	case event.Halt:
		x.thumbsUp(ev)
		x.step("tell whoever works on %s, by the lease, to stop", x.about())
		x.step("there: push what is done, tell that it was stopped, take the label %s off", x.rules.StatusLabel(github.LabelRunning))
	case event.Close:
		x.thumbsUp(ev)
		x.step("take the lease and record that the run was stopped")
		x.step("tell that in its comment, and take the label %s off", x.rules.StatusLabel(github.LabelRunning))
	case event.Tidy:
		x.step("take the labels off the issue that show how its run stands")
	case event.Derive:
		x.planning(ctx)
	default:
		x.working(ctx, d.Do)
	}
}

// about is the task that is asked about.
func (x *explainer) about() string {
	ev := x.request.Event
	switch {
	case x.known:
		return x.run.Start.Task
	case ev.Issue != nil && !ev.Issue.Pull:
		return fmt.Sprintf("issue-%d", ev.Issue.Number)
	case ev.Issue != nil:
		return fmt.Sprintf("the run of pull request #%d", ev.Issue.Number)
	}
	return "its task"
}

// dropped is as Action.decline.
func (x *explainer) dropped(ev event.Event) {
	x.step("say so in the log and on the page of the job")
	if n := number(ev); n != 0 {
		x.step("comment on #%d why", n)
	}
	if ev.Issue != nil && ev.Kind == event.Labeled {
		x.step("take the label %s off #%d", x.rules.TriggerLabel, number(ev))
	}
}

func (x *explainer) thumbsUp(ev event.Event) {
	if ev.Comment != nil {
		x.step("react to the comment with 👍")
	}
}

// eyes is as Client.React, where a job begins with that: a comment is reacted to, else the issue.
func (x *explainer) eyes() {
	asks := x.request.Verb != event.Fix && x.request.Verb != event.Heed
	switch ev := x.request.Event; {
	case ev.Comment != nil:
		x.step("react to the comment with 👀")
	case ev.Issue != nil && asks:
		x.step("react to #%d with 👀", ev.Issue.Number)
	}
}

// takeUp lists what a sweep would work on.
func (x *explainer) takeUp(ctx context.Context) {
	if !x.asked {
		x.step("look for runs that were left behind, then issues with the label %s, then the plans of the settings; take up at most %d",
			x.rules.TriggerLabel, x.Inputs.MaxTasks)
		return
	}
	left := x.Inputs.MaxTasks
	for p, err := range x.pending(ctx, x.request.Event, x.facts) {
		if err != nil {
			x.unknown("what waits: %v", err)
			return
		}
		x.step("take up %s", p.row())
		if left--; left == 0 {
			return
		}
	}
	if left == x.Inputs.MaxTasks {
		x.step("nothing: there is nothing to take up")
	}
}

// planning is as Action.plan.
func (x *explainer) planning(ctx context.Context) {
	x.eyes()
	x.step("take the label %s off, where it is on", x.rules.PlanLabel())
	t, err := x.task(ctx, x.request, x.facts)
	if err != nil {
		x.rejected(err)
		return
	}
	shop, ok := x.settled(ctx)
	if !ok {
		return
	}
	x.step("let %s read %s in a copy that is thrown away, for at most %s, and derive a plan of issue #%d",
		shop.Settings.Agent.Command, x.base(), safetext.Counted(shop.Settings.TimeoutMinutes, "minute", "minutes"), t.Issue)
	x.step("comment the plan on the issue, to be edited and approved with %s approve", x.rules.TriggerPhrase)
}

// rejected is as Action.reject: what is asked for cannot be done, and nothing is begun.
func (x *explainer) rejected(err error) {
	x.becomes(becomesAnswered, err.Error())
	ev := x.request.Event
	if n := number(ev); n != 0 {
		x.step("comment on #%d what is wrong", n)
	}
	if ev.Issue != nil && ev.Kind == event.Labeled && strings.EqualFold(ev.Label, x.rules.TriggerLabel) {
		x.step("take the label %s off #%d", x.rules.TriggerLabel, ev.Issue.Number)
	}
	x.step("say so in the log and the job's summary; the job ends with exit code 2")
}
