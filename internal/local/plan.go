package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

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
	if l.Killed {
		if err := l.layAgain(ctx, path.Join(dir, planrun.PlanFile)); err != nil {
			return t, err
		}
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
	return t, nil
}

// layAgain writes a file of the plan as HEAD has it, where a git that was killed has removed it and not yet written it
// anew.
func (l *IssueRun) layAgain(ctx context.Context, name string) error {
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err == nil && (!info.Mode().IsRegular() || info.Size() > 0) ||
		err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	tree, err := git.Look(ctx, l.Dir, l.Parent, "")
	if err != nil {
		return invalid.Mark(err)
	}
	content, ok, err := tree.File(ctx, tree.Head(), name)
	if err != nil || !ok {
		return err
	}
	if err := errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, content, 0o644)); err != nil {
		return fmt.Errorf("writing %s again: %w", name, err)
	}
	l.Log("%s is written again as the newest commit has it: a ralph was killed when it was about to do so", name)
	return nil
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
	if known && before.End.Outcome == loop.Done { // it may have died before it did so itself
		_ = os.Remove(filepath.Join(l.Dir, engine.StateFile))
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
