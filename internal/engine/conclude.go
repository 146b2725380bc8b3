package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// Conclude keeps what a failed run did on a branch of its own, records the outcome, and pushes: after it nothing can be
// lost.
func (run *Run) Conclude(
	ctx context.Context, view func(loop.State) report.View, result loop.Result,
) (loop.Result, error) {
	var err error
	end := loop.End{Outcome: result.Outcome, Reason: result.Reason, Until: result.Until, ForPull: result.ForPull}
	if result.Outcome.Limited() && run.Tree != nil {
		ended := result.State
		ended.End = &end
		on := run.Tree.Head()
		if !run.Journal.Remote { // a local branch can hold a commit that no remote takes
			on = cmp.Or(run.Journal.refused.SHA, on)
		}
		files := map[string][]byte{".ralph_state.md": []byte(report.StateFile(view(ended)))}
		end.FailureBranch, err = run.Tree.FailureBranch(ctx, on, failureBranch(ended), report.FailureCommitMessage(ended), files)
		if err != nil {
			run.Log("keeping the work on a branch of its own: %v", err) // it is on the run's own branch anyway
		}
	}
	if run.Journal.refused.SHA != "" && result.Outcome != loop.Done {
		run.saveWork(ctx, &end)
	}
	if result.Outcome == loop.Done || result.ForPull {
		end.Conflicts = run.conflicts(ctx)
	}
	_, err = run.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: run.Clock(), End: &end})
	if err != nil { // what did not reach the remote is not done
		end = loop.End{Outcome: loop.Failed, Reason: err.Error(), FailureBranch: end.FailureBranch}
		run.saveWork(ctx, &end)
		result.Outcome, result.Reason = end.Outcome, end.Reason
		if alone := run.Journal.endUnpushed(ctx, &end); alone != nil {
			run.Log("the run record on the remote does not hold how the run ended: %v", alone)
		}
	}
	run.hear(ctx) // it is too late for these, and the reports say so
	result.State = run.Journal.State()
	return result, err
}

// mostConflicts bounds the files that a run's end names.
const mostConflicts = 20

// conflicts are the files in which the run's work conflicts with what others have pushed to the branch it goes to since
// the run began.
func (spec *Spec) conflicts(ctx context.Context) []string {
	if spec.Tree == nil {
		return nil
	}
	files, err := spec.Tree.BaseConflicts(ctx)
	if err != nil {
		spec.Log("whether %s can be merged is not known: %v", spec.Tree.Branch(), err)
	}
	return files[:min(len(files), mostConflicts)]
}

// saveWork keeps the work of a run that cannot be pushed as a patch beside the reports, and says where.
func (run *Run) saveWork(ctx context.Context, end *loop.End) {
	s := run.Journal.State()
	if run.Reports == "" || run.Tree == nil {
		return
	}
	head := cmp.Or(run.Journal.refused.SHA, run.Tree.Head())
	if head == s.Head() {
		return
	}
	patch, err := run.Tree.Diff(ctx, s.Start.Base, head, maxPatch)
	if err == nil {
		err = run.aside(run.Reports).write("work.patch", []byte(patch), 0o644)
	}
	if err != nil {
		run.Log("keeping the work as a patch: %v", err)
		return
	}
	end.Patch = ".ralph/runs/" + s.Start.Run + "/work.patch"
	end.Reason += fmt.Sprintf("; the work is kept as %s in the job's workspace, for a later step to upload; "+
		"git apply --index work.patch on %.12s applies it", end.Patch, s.Start.Base)
}

// maxPatch bounds the patch of a run that could not be pushed.
const maxPatch = 64 << 20

// failureBranch is the name of the branch that keeps the work of a run which a limit stopped.
//
// The time is that of the last turn's end: a job that is killed before it can report the branch makes the same one
// again.
func failureBranch(s loop.State) string {
	task, at := s.Start.Task, s.StartedAt
	if last := s.Last(); last != nil {
		at = last.At.Add(last.Turn.Duration)
	}
	return fmt.Sprintf("wip/ralph-fail-%s-%s", task, at.UTC().Format("20060102-150405"))
}
