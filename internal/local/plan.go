package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

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

// keepRecord keeps the run's record as a ref of the clone, and says how others come by it: who has it does not review
// again what was reviewed.
func (l *IssueRun) keepRecord(ctx context.Context, work *engine.Run) {
	if l.Plan == "" {
		return
	}
	s := work.Journal.State()
	message := fmt.Sprintf("ralph: %s, run %s, record %d", s.Start.Task, s.Start.Run, s.Records)
	ref, err := work.Tree.KeepRecord(ctx, map[string][]byte{journal.File: work.Journal.File.Bytes()}, message)
	if err != nil {
		l.Log("the run's record is in this directory alone: %v", err)
		return
	}
	if url, err := git.RemoteURL(ctx, l.Dir, l.Parent); err == nil && url != "" {
		l.Log("to share the work and its reviews: git push origin %s %s", s.Start.Branch, ref)
	}
}
