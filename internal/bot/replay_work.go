package bot

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// working tells of a run, from its first call to its last.
func (x *explainer) working(ctx context.Context, do event.Doing) {
	x.eyes()
	switch {
	case x.request.Verb == event.Fix && !x.reviewed(ctx), x.request.Verb == event.Heed && !x.heeded(ctx), x.ofPlan():
		return
	}
	wanted, err := x.wish(ctx)
	if err != nil {
		x.rejected(err)
		return
	}
	shop, ok := x.settled(ctx)
	if !ok {
		return
	}
	if err := shop.ResolveGoal(wanted.Task, nil, wanted.Issue == 0); err != nil && shop.Settings.GuardrailsFrom != "" { // else it is not known here what is run
		x.rejected(err)
		return
	}
	x.step("hold %s, so that nobody else works on it", cmp.Or(wanted.ID, x.about()))
	x.branches(ctx, do, wanted)
	x.labels(wanted.Issue)
	x.comments(wanted.Issue)
	x.judging(ctx, shop)
	x.limits(do, shop)
	x.ending(wanted.Issue)
}

// reviewed tells what the reviews ask for; false: nothing, and nothing is begun (see Action.fix).
func (x *explainer) reviewed(ctx context.Context) bool {
	if !x.known {
		x.unknown("what the reviews ask for")
		return true
	}
	asked, err := x.feedback(ctx, x.request, x.run, x.facts)
	if self := x.github.Self(); !strings.EqualFold(self, x.facts.Self) {
		x.unknown("threads in which %s had the last word: the token here is of that account, whose words are taken for ralph's", self)
	}
	switch {
	case err != nil:
		x.unknown("what the reviews ask for: %v", err)
	case asked == nil && x.request.Hint == "":
		x.step("comment on #%d that there is nothing to take up: no open thread, and no review that requests changes, by anybody with write access", number(x.request.Event))
		return false
	case asked != nil:
		var said []string
		if asked.Text != "" {
			said = append(said, "the words of the reviews")
		}
		if n := len(asked.Items); n > 0 {
			said = append(said, safetext.Counted(n, "open thread", "open threads")+", answered at the end")
		}
		x.step("hand to the agent: %s", strings.Join(said, "; "))
	}
	return true
}

// heeded reports whether there is something to do about what other workflows found, and tells if not (see Action.heed).
func (x *explainer) heeded(ctx context.Context) bool {
	if s := x.run; x.known && s.End != nil && s.End.Outcome == loop.Done {
		if len(s.Iterations) >= s.MaxIterations {
			x.step("nothing: the %d iterations of the run are used up", s.MaxIterations)
			return false
		}
		if builds, err := x.ciCheck().Builds(ctx, s.Tip); err != nil {
			x.unknown("what other workflows found: %v", err)
		} else if len(builds.Failed) == 0 {
			x.step("nothing: nothing has failed on %.12s", s.Tip)
			return false
		}
	}
	return true
}

// ofPlan reports whether the request is about the run of a plan in the repository and cannot be followed on its pull request, and tells
// (see Action.onPlan).
func (x *explainer) ofPlan() bool {
	s, r := x.run, x.request
	if !x.known || s.Start.Issue != 0 || r.PlanFile != "" || r.Verb == event.Fix || r.Verb == event.Heed {
		return false
	}
	if s.Start.Plan != nil && !r.Fresh && r.Verb != event.Approve {
		return false
	}
	x.rejected(invalid.Errorf("pull request #%d is of %s, not of an issue: here its run can be resumed, with %s retry", r.Event.On, s.Start.Task, x.rules.TriggerPhrase))
	return true
}

// wish is what is to be worked on. Of what goes on for a review or another workflow, that is the run's own task.
func (x *explainer) wish(ctx context.Context) (workRequest, error) {
	if x.known && (x.request.Verb == event.Fix || x.request.Verb == event.Heed || x.run.Start.Issue == 0) {
		wanted := goingOn(x.run)
		wanted.Issue = x.run.Start.Issue
		return *wanted, nil
	}
	if ev := x.request.Event; !x.asked && ev.Issue != nil && ev.Issue.Pull {
		return workRequest{Task: task.Task{ID: x.about()}}, nil
	}
	if !x.asked && (x.request.PlanFile != "" || x.request.Verb == event.Approve || x.request.Event.Issue != nil && x.request.Event.Issue.Title == "") {
		x.unknown("what exactly is asked for")
		w := workRequest{}
		if ev := x.request.Event; ev.Issue != nil {
			w.Issue, w.ID = ev.Issue.Number, fmt.Sprintf("issue-%d", ev.Issue.Number)
		}
		return w, nil
	}
	return x.workRequest(ctx, x.request, x.facts)
}

func (x *explainer) branches(ctx context.Context, do event.Doing, wanted workRequest) {
	if x.known && do != event.Begin {
		x.step("go on with the branch %s, whose pull request goes to %s", x.run.Start.Branch, x.run.Start.Onto)
		return
	}
	if ev := x.request.Event; !x.known && ev.Issue != nil && ev.Issue.Pull {
		x.step("go on with the branch of pull request #%d", ev.Issue.Number)
		return
	}
	branch, err := x.branch(ctx, wanted)
	if err != nil {
		x.step("stop: %v", err)
		return
	}
	x.step("begin the branch %s at %s", branch, x.base())
}

// base names the branch that a run begins from.
func (x *explainer) base() string {
	if onto := x.onto(x.request.Event); onto != "" {
		return onto
	}
	return "the default branch"
}

// labels is as publisher.begin.
func (x *explainer) labels(issue int) {
	if issue == 0 {
		return
	}
	p := publisher{rules: x.rules}
	var off []string
	for _, l := range labels(x.request.Event) {
		if strings.EqualFold(l, x.rules.TriggerLabel) || p.outdated(l, github.LabelRunning) {
			off = append(off, l)
		}
	}
	if len(off) > 0 {
		x.step("take the label %s off #%d", strings.Join(off, ", "), issue)
	}
	x.step("put the label %s on #%d", x.rules.StatusLabel(github.LabelRunning), issue)
}

func (x *explainer) comments(issue int) {
	ev := x.request.Event
	switch {
	case x.known && x.run.Post.Pull != 0:
		x.step("keep the run's comment on pull request #%d up to date", x.run.Post.Pull)
	case ev.Issue != nil && ev.Issue.Pull:
		x.step("keep the run's comment on pull request #%d up to date", ev.Issue.Number)
	case issue != 0:
		x.step("comment on #%d how the run stands, and keep that up to date; from the first commit on, on its draft pull request", issue)
	default:
		x.step("open a draft pull request with the first commit, and tell there how the run stands")
	}
}
