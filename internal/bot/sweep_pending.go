package bot

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
)

// pending yields what no one works on: runs that were cut off while they told how they ended, runs whose process died,
// then issues whose label no run has picked up, then the plans of the settings, then runs that wait for their pull
// request, each oldest first. What is skipped is logged with its reason. With the input issue or plan, only that
// one counts: a job of the matrix that List made.
func (a *Action) pending(ctx context.Context, ev event.Event, facts event.Facts) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		runs, err := a.recorded(ctx)
		if err != nil {
			yield(pending{}, err)
			return
		}
		held := map[string]bool{} // tasks that someone works on, or that were yielded
		for _, s := range runs {
			held[s.Start.Task] = held[s.Start.Task] || alive(s, a.Clock())
		}
		left := sync.OnceValues(func() (github.Pending, error) { // most sweeps end with this call
			return a.github.Pending(ctx, a.triggerLabels(), a.baseBranch(ev), config.SettingsFile)
		})
		for _, list := range []iter.Seq2[pending, error]{
			a.untold(ctx, ev, runs), a.orphans(ctx, ev, runs, held), a.waiting(ctx, ev, facts, left, runs, held),
			a.plans(ctx, ev, facts, left, runs, held),
			a.undelivered(ctx, ev, runs, held),
		} {
			for p, err := range list {
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}

// orphans are the runs whose process died, and those whose wait is over.
func (a *Action) orphans(ctx context.Context, ev event.Event, runs []loop.State,
	held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		for _, s := range runs {
			if s.End != nil && !a.canResume(s) || alive(s, a.Clock()) {
				continue
			}
			a.github.Recount()
			p, ok := a.leftBehind(ctx, ev, s)
			if !ok {
				continue
			}
			held[s.Start.Task] = true
			p.why = "its run " + s.Start.Run + " was left behind"
			if a.canResume(s) {
				p.why = "the limit that its run " + s.Start.Run + " waited for is over"
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// leftBehind is the request to continue with a run, if this sweep is for it.
func (a *Action) leftBehind(ctx context.Context, ev event.Event, s loop.State) (pending, bool) {
	switch {
	case s.Start.Issue != 0 && a.wants(s.Start.Issue):
		request, known, ok := a.orphan(ctx, ev, s)
		return pending{request: request, facts: known}, ok
	case s.Start.Issue == 0 && s.Start.Plan != nil && a.wantsPlan(s.Start.Plan.File):
		return a.orphanPlan(ev, s), true
	}
	return pending{}, false
}

// triggerLabels are the labels by which an issue asks: for work, then for a plan.
func (a *Action) triggerLabels() []string { return []string{a.rules.TriggerLabel, a.rules.PlanLabel()} }

// waiting are the issues whose label no run has picked up.
func (a *Action) waiting(ctx context.Context, ev event.Event, facts event.Facts, left func() (github.Pending, error),
	runs []loop.State, held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		if a.Inputs.Plan != "" {
			return
		}
		if is, err := left(); err == nil && !is.Labelled {
			return
		}
		for _, label := range a.triggerLabels() {
			queued, err := a.github.Queued(ctx, label)
			if err != nil {
				yield(pending{}, err)
				return
			}
			for i := range queued {
				a.github.Recount()
				if label == a.rules.TriggerLabel && held[fmt.Sprintf("issue-%d", queued[i].Number)] {
					a.log("issue #%d is skipped: its run is alive", queued[i].Number)
				} else if !a.wants(queued[i].Number) || ctx.Err() != nil {
					continue
				} else if request, known, ok := a.queued(ctx, ev, runs, queued[i], label); ok {
					if !yield(pending{request: request, facts: known, why: "it waits with the label " + label}, nil) {
						return
					}
				}
			}
		}
	}
}

// queued is the request that a label made, as if its event had just arrived. An issue that was edited after it was
// labeled is skipped: the text that was asked for is not to be had any more.
func (a *Action) queued(ctx context.Context, ev event.Event, runs []loop.State, issue event.Issue,
	label string) (event.Request, event.Facts, bool) {
	none := func(format string, args ...any) (event.Request, event.Facts, bool) {
		a.log("issue #%d is skipped: %s", issue.Number, fmt.Sprintf(format, args...))
		return event.Request{}, event.Facts{}, false
	}
	labeller, at, err := a.github.LabelChanged(ctx, issue.Number, event.Labeled, label)
	if err != nil {
		return none("%v", err)
	}
	if label == a.rules.TriggerLabel &&
		slices.ContainsFunc(runs, func(s loop.State) bool { return s.Start.Issue == issue.Number && begunSince(s, at) }) {
		return none("a run has begun since it was labelled, and could not take the label off")
	}
	edited, err := a.github.LastEdited(ctx, issue.Number)
	if err != nil {
		return none("%v", err)
	}
	if edited.After(at) {
		return none("its text was edited after it was labelled; take the label off and put it on again")
	}
	asked := event.Event{
		Kind: event.Labeled, Name: "issues.labeled (swept)", Repo: ev.Repo, Sender: event.Actor{Login: labeller},
		At: at, Label: label, Issue: &issue,
	}
	request, skip, err := event.Read(asked, a.rules)
	if skip != nil || err != nil {
		return none("%v", skip)
	}
	request, known, ok := a.gathered(ctx, request)
	if !ok {
		return request, known, false
	}
	if why, withdrawn := known.Withdrawn(request.Event); withdrawn {
		return none("%s", why)
	}
	if refusal := event.Authorise(request.Event, known, a.rules); refusal != nil {
		return none("%s", refusal.Reason)
	}
	return request, known, true
}
