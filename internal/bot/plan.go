package bot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/derive"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// plan derives a plan from an issue and posts it as one comment, to be edited and approved. It holds no lease, makes no
// branch and writes nothing but that comment: what an agent does in its checkout is thrown away with it.
func (a *Action) plan(ctx context.Context, request event.Request, facts event.Facts) (loop.Result, error) {
	to := a.to(request.Event)
	a.warn("reacting", a.github.React(ctx, request.Event, "eyes"))
	if on := labels(request.Event); slices.ContainsFunc(on, func(l string) bool { return strings.EqualFold(l, a.rules.PlanLabel()) }) {
		a.warn("changing labels", a.github.RemoveLabel(ctx, request.Event.Issue.Number, a.rules.PlanLabel())) // added again, it asks again
	}
	wanted, err := a.task(ctx, request, facts)
	if err != nil {
		return to.reject(ctx, err)
	}
	p := planning{a, request, wanted}
	offer, err := p.derive(ctx)
	switch {
	case ctx.Err() != nil:
		return loop.Result{Outcome: loop.Interrupted, Reason: "canceled before there was a plan"}, nil
	case invalid.Is(err):
		return to.reject(ctx, err)
	case err != nil:
		result, err := to.reject(ctx, fmt.Errorf("there is no plan: %w", err))
		result.Outcome, result.State.Usage = loop.Failed, offer.usage
		return result, err
	}
	view := a.view(loop.State{Start: loop.Start{Task: wanted.ID, Issue: wanted.Issue, Assignment: loop.Assignment{Title: wanted.Title}}})
	likely, most := offer.Plan.Estimate(offer.rules)
	body := strings.TrimRight(planlist.Comment(view, offer.Plan, likely, most), "\n") + "\n\n" + offer.note()
	a.Runner.Summary(a.redact(body))
	if err := p.post(ctx, view, body); err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	result := loop.Result{Outcome: loop.Done, Reason: "the plan is on the issue", State: loop.State{Usage: offer.usage}}
	a.Runner.Notice(result.Reason)
	return result, nil
}

// offer is a plan that an agent has derived, and what that took.
type offer struct {
	derive.Result
	rules plan.Rules
	usage loop.Usage
}

// note says below the plan what it has cost and what was left out of it.
func (o offer) note() string {
	text := "Derived in " + safetext.Counted(o.Tries, "turn", "turns")
	if o.usage.CostUSD > 0 {
		text += fmt.Sprintf(" for $%.2f", o.usage.CostUSD)
	}
	text += ".\n"
	if len(o.Dropped) > 0 {
		text += "\nThese commands are left out, since an issue may not say what is run; name them under `guardrails` in " +
			"the settings if they should be:\n\n" +
			fenced(o.Dropped)
	}
	return text
}

// planning makes a plan of an issue.
type planning struct {
	*Action
	request event.Request
	wanted  task.Task
}

// derive lets the agent read the base commit, in a copy that is thrown away, and answer with a plan.
func (p planning) derive(ctx context.Context) (offer, error) {
	work := &engine.Run{}
	defer work.Close()
	branch, err := p.branch(ctx, workRequest{Task: p.wanted})
	if err != nil {
		return offer{}, err
	}
	root, err := p.jobDir(work)
	if err != nil {
		return offer{}, err
	}
	at, err := workplace{p.Action, p.request, "plan-" + p.wanted.ID, p.Inputs.BranchPrefix + "plan-" + p.wanted.ID, root}.prepare(ctx)
	if err != nil {
		return offer{}, err
	}
	p.readWays(ctx, p.request.Event, at.Tree.File)
	rules, err := p.settings(ctx, at.Place, nil)
	if err != nil {
		return offer{}, err
	}
	work.Spec = at.spec(engine.WorkOn(at.Tree, p.host()), rules)
	out := offer{rules: planrun.Rules(work.Settings)}
	copied, err := work.Copies.Review(ctx, work.Tree.Base())
	if err != nil {
		return out, err
	}
	defer func() { p.warn("removing the copy of the base commit", copied.Close()) }()
	limited, cancel := context.WithTimeout(ctx, work.Settings.Timeout())
	defer cancel()
	obey := p.Runner.StopCommands()
	defer obey()
	asked := derive.RequestOf(fmt.Sprintf("issue #%d", p.wanted.Issue), p.wanted)
	asked.PRD, asked.Kept.BranchName = asked.Text, branch // the issue is the PRD
	out.Result, err = derive.Ask(limited, derive.Deriver{
		Ask:   planner(work, copied, filepath.Join(root, "logs"), &out.usage),
		Known: engine.CommandLines(work.Settings.Guardrails), Redact: p.redact, Log: p.log,
	}, asked)
	if err == nil && limited.Err() != nil || errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the time limit of %s is over", safetext.Duration(work.Settings.Timeout()))
	}
	return out, err
}

// planner asks the run's agent in a copy of the repository, as one that reads.
func planner(w *engine.Run, copied check.Checkout, logs string, spent *loop.Usage) func(context.Context,
	string) (loop.Turn, error) {
	purse := w.OwnBudget()
	return func(ctx context.Context, asked string) (loop.Turn, error) {
		c, _, err := w.Agents()
		// those are in the copy alone
		if err != nil && !inTree(w.Settings.Agent.Command) && !inTree(w.Settings.Reviewer.Command) {
			return loop.Turn{}, err
		}
		o := c.Options
		o.Dir, o.Extra = copied.Dir(), copied.Env()
		o.ReadOnly, o.Schema, o.Completion, o.AgentSettings, o.Text = true, derive.Schema, "", false, false
		o.LogFile, o.Title = filepath.Join(logs, "plan.log"), "Plan"
		t, err := purse.Turn(ctx, o, asked)
		*spent = spent.Plus(t.Usage)
		return t, err
	}
}

// Everyone with write access can approve a plan, and can edit its comment: GitHub lets them edit comments of others. A
// comment counts as ralph's plan by its first line and by its author, because anyone can write the line.

// post shows a plan on its issue: in the comment with the last one, as long as no one has edited that, else in a
// new one.
func (p planning) post(ctx context.Context, view report.View, body string) error {
	issue := view.State.Start.Issue
	comments, err := p.github.Comments(ctx, issue)
	if err != nil {
		return err
	}
	before := planOn(comments, p.github.Self(), issue)
	edited := before != nil && !sealed(before.Body)
	if before != nil && !edited {
		err := p.github.EditComment(ctx, before.ID, seal(p.redact(body)))
		if err == nil || !github.ErrGone(err) {
			return err
		}
	}
	if edited {
		body = wording.JoinedBy(" ", strings.TrimRight(body, "\n")+"\n\nThe plan above this one was edited by hand, so it stays "+
			"as it is.", wording.Sentence(view.Offer("approve", "runs this one, which is the newest"))) + "\n"
	}
	_, err = p.github.Comment(ctx, issue, seal(p.redact(body)), false)
	return err
}
