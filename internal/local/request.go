package local

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// IssueRun is ralph on a laptop: the same run as in a job, in the clone at Dir, without a write to GitHub.
type IssueRun struct {
	session.Session
	Issue string // a file, or an issue's number
	Task  string // a task file, or the id of one under .ralph/tasks
	Plan  string // the directory of a plan
	// Criteria are those of the flags; nil: none.
	Criteria *task.Completion
	// Accept names what the person accepts: findings about the change, and paths, shared with the checks, whose changes
	// in the run are accepted; "all" names every one.
	Accept []string
	Answer string // to the question that the run waits with; empty: none

	listStart *start               // of a list: what all runs begin from; nil: the run finds out
	listed    map[string]task.Task // of a list: its tasks, by their ids
	stands    string               // the branch that the clone is on; a commit where it is on none
	one       *task.Task           // of a list: the task
	given     *given               // of a list: what was read before its first task
	source    planrun.Source       // of a plan: as it is in the clone
}

// start is what a run in a clone begins from.
type start struct {
	base     string     // a branch or a commit; empty: where the clone stands
	onto     string     // the branch that the base is on; empty: base says it
	with     []git.Work // what the base is to hold besides
	replaces []string   // commits with nothing of their own that the branch had
}

// works are those of a start, as a run's record reports them.
func (f start) works() []loop.Work {
	return safetext.Map(f.with, func(w git.Work) loop.Work { return loop.Work{Task: w.Name, Commit: w.Commit} })
}

// given is what a run takes from the directory's files, once, before the first turn of an agent.
type given struct {
	settings config.Settings
	prompts  prompt.Set
}

func (l *IssueRun) read() (given, error) {
	if l.given != nil {
		return *l.given, nil
	}
	settings, err := l.Settings()
	if err != nil {
		return given{}, err
	}
	prompts, err := engine.PromptsIn(l.Dir)
	return given{settings, prompts}, err
}

// task reads what is needed: a task file, an issue's file, or an issue by its number from GitHub.
func (l *IssueRun) task(ctx context.Context, from string) (task.Task, error) {
	switch {
	case l.one != nil:
		return *l.one, nil
	case l.Task != "":
		return taskFile(l.Dir, from, l.Task)
	case l.Plan != "":
		return l.planTask(ctx, from)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(l.Issue, "#")); err == nil && number > 0 {
		return l.FromGitHub(ctx, number)
	}
	content, err := session.ReadNamed(from, l.Issue)
	if err != nil {
		return task.Task{}, invalid.Errorf(
			"invalid --issue %q: %w; must be a file that describes the change, or an issue number", l.Issue,
			err,
		)
	}
	t, err := task.FromFile(l.Issue, string(content))
	return t, invalid.Mark(err)
}

// host is in the addresses of commits that a clone's own runs make.
const host = "localhost"

// spec settles what judges the run, and what "done" means for it. known is what its record says is shared, nil when it
// begins.
func (l *IssueRun) spec(
	ctx context.Context, t task.Task, set config.Settings, p engine.Place, known []loop.Shared, out engine.Output,
) (spec *engine.Spec, err error) {
	spec = &engine.Spec{
		Work: engine.WorkOn(p.Tree, host), Place: p, Output: out,
		Rules:    engine.Rules{Settings: set, PlanCommands: l.source.Plan.VerifyCommands, Wall: set.Timeout()},
		Identity: engine.Identity{Parent: l.Parent, Keys: l.AgentKeys()},
	}
	if spec.Environment, err = engine.Environment(ctx, p, set, known, l.Accept); err != nil {
		return nil, err
	}
	if spec.Rules, err = engine.DetectChecks(ctx, p, spec.Rules, out.Log); err != nil {
		return nil, err
	}
	if l.Plan != "" {
		spec.Work, spec.Rules, err = planrun.Use(l.source, p, spec.Rules, host, out)
	} else { // a task's text is the user's own, unless it is one of GitHub's, which a stranger can have written
		spec.Goal, err = spec.ResolveGoal(t, l.Criteria, t.Issue == 0, out.Log)
	}
	return spec, err
}

// planTask reads the plan in the clone.
func (l *IssueRun) planTask(ctx context.Context, from string) (t task.Task, err error) {
	dir, err := planrun.InClone(l.Dir, from, l.Plan)
	if err != nil {
		return t, err
	}
	if l.source, err = planrun.ReadPlanIn(l.Dir, dir); err != nil {
		return t, err
	}
	if t, l.source.Plan, err = l.source.Task(); err != nil {
		return t, err
	}
	if err := git.CheckBranchName(ctx, l.source.Plan.BranchName); err != nil {
		return t, invalid.Errorf("%s: branchName: %w", l.source.File, err)
	}
	return l.planOfBranch(ctx, t)
}

// planOfBranch settles whether the plan's files count as they are here or as the run's branch has them: those that someone
// has edited since count as they are here.
func (l *IssueRun) planOfBranch(ctx context.Context, t task.Task) (task.Task, error) {
	src := &l.source
	lying, err := git.Uncommitted(ctx, l.Dir, l.Parent, src.Dir)
	if err != nil {
		return t, err
	}
	var on planrun.OnBranch
	if !l.Fresh {
		on, err = planrun.FindOnBranch(ctx, &l.Session, *src)
	}
	switch {
	case err != nil:
		return t, err
	case on.Branch == "":
		return t, src.TakeAlong(l.Dir, lying)
	case !slices.Contains(on.Own, src.File):
		*src, t = on.Source, on.Task
	case len(on.Behind) > 0:
		return t, invalid.Errorf("%s was edited here, and lacks what the run has done since on %s (%s): git restore --source=%[2]s "+
			"-- %[1]s takes the newer one, to be edited; --fresh starts over with this one", src.File, on.Branch,
			safetext.FirstN(on.Behind, 5))
	}
	err = src.TakeAlong(l.Dir, on.Own)
	src.Approve(&l.Session, t.ID, on.Since)
	return t, err
}

// completeError says that a plan has nothing left to do.
type completeError struct{ reason string }

func (e *completeError) Error() string { return e.reason }

// complete says so when the plan in the clone has nothing left to do, and no run of it is unfinished: what is in the
// file of one that died has yet to be judged.
func (l *IssueRun) complete(before loop.State, known bool, reviewed bool) error {
	if l.Plan == "" || l.Fresh || known && before.End == nil ||
		!l.source.Plan.Complete(plan.Rules{SkipReview: !reviewed}) {
		return nil
	}
	return &completeError{
		fmt.Sprintf(
			"nothing to do: %s of %s %s approved",
			safetext.Plural(
				len(l.source.Plan.Stories), "the only story",
				fmt.Sprintf("all %d stories", len(l.source.Plan.Stories)),
			),
			l.source.File, safetext.IsAre(len(l.source.Plan.Stories)),
		) + l.source.Plan.Marks(),
	}
}

// bindPlan finds what is believed of the plan's reviews, and holds the plan in the clone against it.
func (l *IssueRun) bindPlan(ctx context.Context, id string, settings config.Settings) {
	if l.Plan == "" {
		return
	}
	rules := planrun.Rules(settings)
	l.source.Reviews, l.source.ReviewCost = planrun.RecordedReviews(ctx, &l.Session, id, l.source.Plan, rules)
	l.source.Plan, _, _ = l.source.Plan.Bound(rules, l.source.Reviews...)
}

// tellHeld says where the work is when the branch was not moved.
func (l *IssueRun) tellHeld(tree *git.Tree) bool {
	in, command := tree.Held()
	if in != "" {
		l.Log("%s is checked out in %s, so it is not moved under you: %s takes the new work", tree.Branch(), in, command)
	}
	return in != ""
}
