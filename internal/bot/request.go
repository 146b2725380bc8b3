package bot

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// past is what there is of a task's last run.
type past struct {
	state loop.State
	known bool
	raw   []byte // its journal
}

// planCommand is the request for a plan. The plan of the last run is resumed, or run again if it is done; another plan
// starts fresh.
func planCommand(r event.Request, before past, same bool) event.Request {
	switch {
	case !before.known:
	case !same:
		r.Asking, r.Command = "", event.Command{Verb: event.Retry, Fresh: true}
	case endedDone(before.state):
		r.Asking, r.Command = "", event.Command{Verb: event.Run}
	default:
		r.Asking, r.Command = "", event.Command{Verb: event.Retry}
	}
	return r
}

func endedDone(s loop.State) bool { return s.End != nil && s.End.Outcome == loop.Done }

// workRequest is the work that a request names: a task, and for a plan more.
type workRequest struct {
	task.Task
	plan   *planrun.Source // nil: none is given; the run that exists may have one anyway
	branch string          // of a plan in the repository; empty: named after the task
	newest []byte          // of a plan in the repository: its file as the base branch has it now
	// feedback is what the run continues for; nil: nothing of the kind.
	feedback *loop.Feedback
	// dropped are the commands that an approved plan brought and that are not run.
	dropped []string
	read    planlist.Approved // an approved plan as its comment has it
}

// workRequest reads the work that a request names.
func (a *Action) workRequest(ctx context.Context, request event.Request, facts event.Facts) (workRequest, error) {
	if request.PlanFile != "" {
		return a.planFileRequest(ctx, request)
	}
	t, err := a.task(ctx, request, facts)
	if err != nil || request.Verb != event.Approve {
		return workRequest{Task: t}, err
	}
	t.Completion = nil // the stories say when it is done
	t.Spec = safetext.FirstBytes(safetext.Sanitise(request.Event.Issue.Body), planrun.MaxPlanSpec)
	source, read, err := approval{a, request.Event, facts}.approved(ctx)
	return workRequest{Task: t, plan: source, read: read}, err
}

// planFileRequest is a plan in the repository. What it is called is read without a clone; open reads the rest at the
// base commit.
func (a *Action) planFileRequest(ctx context.Context, request event.Request) (workRequest, error) {
	source, branch := planrun.Source{Dir: path.Dir(request.PlanFile), File: path.Clean(request.PlanFile)}, a.baseBranch(request.Event)
	content, ok, err := a.github.File(ctx, branch, source.File)
	if err != nil {
		return workRequest{}, err
	}
	if !ok {
		return workRequest{}, invalid.Errorf(
			"there is no plan %s on %s: give the path of a tasks.json or prd.json from the top of the repository", source.File, branch)
	}
	source.Content = content
	t, p, err := source.Task()
	if err != nil {
		return workRequest{}, err
	}
	t.Asked = request.Event.Sender.Login
	name := p.BranchName // with the prefix that every run's branch has
	if !strings.HasPrefix(name, a.Inputs.BranchPrefix) || name == a.Inputs.BranchPrefix {
		name = a.Inputs.BranchPrefix + safetext.Slug(name, 40)
	}
	if err := git.CheckBranchName(ctx, name); err != nil {
		return workRequest{}, invalid.Errorf("the plan's branchName: %w", err)
	}
	return workRequest{Task: t, plan: &source, branch: name, newest: content}, nil
}

// samePlan reports whether a run started with this plan.
func samePlan(s loop.State, content []byte) bool {
	if s.Start.Plan == nil {
		return false
	}
	p, _, err := plan.Read("", content)
	p, _, _ = p.Bound(s.Start.Plan.Rules(), s.Start.Plan.OnRecord())
	return err == nil && bytes.Equal(p.Marshal(), s.Start.Plan.Plan.Marshal())
}

// goingOn is to continue with a run, with a hint for it.
func goingOn(s loop.State, hint string) workRequest {
	return workRequest{branch: s.Start.Branch, Task: task.Task{ID: s.Start.Task, Title: s.Start.Title, Spec: s.Start.Spec,
		Asked: s.Start.Asked, Issue: s.Start.Issue, Hint: safetext.FirstBytes(safetext.Sanitise(hint), engine.MaxHint)}}
}
