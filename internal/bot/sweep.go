package bot

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// pending is a request that nobody works on, and why it is one.
type pending struct {
	request event.Request
	facts   event.Facts
	plan    *workRequest // of a plan in the repository; else nil
	why     string
	// untold is a run that has ended and was cut off while it told of that; nil: none.
	untold *loop.State
	// undelivered is a run that waits for its pull request; nil: none.
	undelivered *loop.State
}

// sweep takes up what nobody works on (B-05), at most max_tasks. The result is that of the last run, or of the first that did not end
// well.
func (a *Action) sweep(ctx context.Context, ev event.Event, facts event.Facts) (worst loop.Result, err error) {
	if a.Inputs.List {
		_, err := a.list(ctx, ev, facts)
		return loop.Result{}, err
	}
	left := a.Inputs.MaxTasks
	for p, err := range a.pending(ctx, ev, facts) {
		if err != nil {
			return worst, err
		}
		a.log("%s", p.row())
		result, err := a.workPending(ctx, p)
		if worst.Outcome == "" || worst.Outcome == loop.Done {
			worst = result
		}
		if err != nil {
			return worst, err
		}
		if left--; left == 0 {
			return worst, nil
		}
	}
	if left == a.Inputs.MaxTasks {
		a.log("nothing to do: no run was left behind, no issue waits with the label %s, and no plan of the settings is left to do", a.rules.TriggerLabel)
	}
	return worst, nil
}

func (a *Action) workPending(ctx context.Context, p pending) (loop.Result, error) {
	switch {
	case p.untold != nil:
		return a.mend(ctx, p.request, *p.untold)
	case p.undelivered != nil:
		return a.deliverLate(ctx, p.request, *p.undelivered)
	case p.plan != nil:
		return a.workOn(ctx, p.request, *p.plan)
	case p.request.Verb == event.Plan:
		return a.plan(ctx, p.request, p.facts)
	}
	return a.work(ctx, p.request, p.facts)
}

// pending yields what nobody works on: runs that were cut off while they told how they ended, runs whose process died, then issues whose label no run has picked up, then the plans of the
// settings, then runs that wait for their pull request, each oldest first. What is passed over is logged with its reason. With the input issue or plan, only that one counts: a job of
// the matrix that List made.
func (a *Action) pending(ctx context.Context, ev event.Event, facts event.Facts) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		runs, err := a.runs(ctx)
		if err != nil {
			yield(pending{}, err)
			return
		}
		held := map[string]bool{} // tasks that somebody works on, or that were yielded
		for _, s := range runs {
			held[s.Start.Task] = held[s.Start.Task] || a.alive(s)
		}
		for _, list := range []iter.Seq2[pending, error]{
			a.untold(ctx, ev, runs), a.orphans(ctx, ev, runs, held), a.waiting(ctx, ev, facts, runs, held), a.plans(ctx, ev, facts, runs, held),
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
func (a *Action) orphans(ctx context.Context, ev event.Event, runs []loop.State, held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		for _, s := range runs {
			if s.End != nil && !a.due(s) || a.alive(s) {
				continue
			}
			a.github.Recount()
			p, ok := a.leftBehind(ctx, ev, s)
			if !ok {
				continue
			}
			held[s.Start.Task] = true
			p.why = "its run " + s.Start.Run + " was left behind"
			if a.due(s) {
				p.why = "the limit that its run " + s.Start.Run + " waited for is over"
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// leftBehind is the request to go on with a run, if this sweep is for it.
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

// waiting are the issues whose label no run has picked up: the one that asks for work, then the one that asks for a plan.
func (a *Action) waiting(ctx context.Context, ev event.Event, facts event.Facts, runs []loop.State, held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		if a.Inputs.Plan != "" {
			return
		}
		for _, label := range []string{a.rules.TriggerLabel, a.rules.PlanLabel()} {
			queued, err := a.github.Queued(ctx, label)
			if err != nil {
				yield(pending{}, err)
				return
			}
			for i := range queued {
				a.github.Recount()
				if label == a.rules.TriggerLabel && held[fmt.Sprintf("issue-%d", queued[i].Number)] {
					a.log("issue #%d is passed over: its run is alive", queued[i].Number)
				} else if !a.wants(queued[i].Number) || ctx.Err() != nil {
					continue
				} else if request, known, ok := a.queued(ctx, ev, facts, runs, queued[i], label); ok {
					if !yield(pending{request: request, facts: known, why: "it waits with the label " + label}, nil) {
						return
					}
				}
			}
		}
	}
}

// wants reports whether an issue is one that this sweep is for.
func (a *Action) wants(issue int) bool {
	return a.Inputs.Plan == "" && (a.Inputs.Issue == 0 || a.Inputs.Issue == issue)
}

// alive reports whether somebody holds a run.
func (a *Action) alive(s loop.State) bool { return s.End == nil && a.Clock().Before(s.Lease) }

// due reports whether a run that waits for a known time may go on.
func (a *Action) due(s loop.State) bool {
	return s.End != nil && s.End.Outcome == loop.Waiting && !s.End.Until.IsZero() && !a.Clock().Before(s.End.Until)
}

// runs are the newest runs of every task, from their records on the remote, oldest first.
func (a *Action) runs(ctx context.Context) ([]loop.State, error) {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return nil, err
	}
	all, leases, err := git.RecordsAndLeases(ctx, o, a.Clock)
	if err != nil {
		return nil, fmt.Errorf("listing the runs on the remote: %w", err)
	}
	var out []loop.State
	for _, record := range all {
		records, _, err := journal.Read(bytes.NewReader(record.Files[journal.File]))
		if err != nil {
			a.log("the run record of %s is passed over: %v", record.Task, err)
			continue
		}
		out = append(out, withLease(loop.Fold(records), leases[record.Task]))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].StartedAt.Before(out[j].StartedAt) })
	return out, nil
}

// orphan is the request to go on with a run: it was authorised when it began, and only people who may write can have changed its record.
func (a *Action) orphan(ctx context.Context, ev event.Event, s loop.State) (event.Request, event.Facts, bool) {
	issue, err := a.github.Issue(ctx, s.Start.Issue)
	if err != nil {
		a.log("%s is passed over: %v", s.Start.Task, err)
		return event.Request{}, event.Facts{}, false
	}
	if issue.Closed {
		a.log("%s is passed over: issue #%d is closed", s.Start.Task, issue.Number)
		return event.Request{}, event.Facts{}, false
	}
	if a.endShown(ctx, issue, s) {
		a.log("%s is passed over: its run %s has failed and could not record that; %s retry goes on with it", s.Start.Task, s.Start.Run, a.rules.TriggerPhrase)
		return event.Request{}, event.Facts{}, false
	}
	ev.Issue, ev.At = issue, s.StartedAt
	return a.gathered(ctx, event.Request{Command: event.Command{Verb: event.Run}, Event: ev})
}

// endShown reports whether the issue's label says that a run has failed whose record knows no end: the remote took neither its commits nor
// its record. To go on with it would be paid for every hour. A label from before the run was last asked for says nothing of it.
func (a *Action) endShown(ctx context.Context, issue *event.Issue, s loop.State) bool {
	failed := a.rules.StatusLabel(github.LabelFailed)
	if s.End != nil || !slices.ContainsFunc(issue.Labels, func(l string) bool { return strings.EqualFold(l, failed) }) {
		return false
	}
	_, at, err := a.github.Labeller(ctx, issue.Number, failed)
	return err != nil || !takenUp(s, at.Add(time.Second)) // GitHub tells times in whole seconds, rounded down
}

// queued is the request that a label made, as if its event had just arrived. An issue that was edited after it was labelled is passed
// over: the text that was asked for is not to be had any more (B-13).
func (a *Action) queued(ctx context.Context, ev event.Event, facts event.Facts, runs []loop.State, issue event.Issue, label string) (event.Request, event.Facts, bool) {
	none := func(format string, args ...any) (event.Request, event.Facts, bool) {
		a.log("issue #%d is passed over: %s", issue.Number, fmt.Sprintf(format, args...))
		return event.Request{}, event.Facts{}, false
	}
	labeller, at, err := a.github.Labeller(ctx, issue.Number, label)
	if err != nil {
		return none("%v", err)
	}
	if label == a.rules.TriggerLabel && slices.ContainsFunc(runs, func(s loop.State) bool { return s.Start.Issue == issue.Number && takenUp(s, at) }) {
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

func (a *Action) gathered(ctx context.Context, request event.Request) (event.Request, event.Facts, bool) {
	ev, facts, err := a.github.Gather(ctx, request.Event)
	if err != nil {
		a.log("%s is passed over: %v", request.Event, err)
	}
	request.Event = ev
	return request, facts, err == nil
}
