package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// ErrWall is why a run's context ends when its time limit is over.
var ErrWall = errors.New("the run's time limit is over")

// Drive takes an opened run to its outcome: setup, baseline, loop. It publishes and pushes nothing at the end; conclude does. Errors
// become outcomes here: from now on, a run always ends with one. When ctx is done nothing new is begun, when hard is done what runs is
// stopped.
func (w *Run) Drive(ctx, hard context.Context, words Prompts) loop.Result {
	limits := limited(loop.Limits{Wall: w.Wall, NoWait: !w.Settings.WaitForLimits, Patient: w.OfPrompt}, w.Settings)
	if limits.Wall > 0 {
		now := w.Clock()
		limits.Deadline, limits.Soft = now.Add(limits.Wall), now.Add(softly(limits.Wall))
		warning := time.AfterFunc(softly(limits.Wall), func() {
			w.Log("warning: the run has taken %s; it is stopped at %s", softly(limits.Wall), limits.Wall)
		})
		defer warning.Stop()
	}
	bounded, cancel := Within(ctx, limits.Deadline)
	defer cancel()
	stopped, stop := Within(hard, limits.Deadline)
	defer stop()
	result, err := w.tryDrive(bounded, stopped, words, limits)
	switch {
	case errors.Is(context.Cause(bounded), ErrWall) && result.Outcome != loop.Done:
		result.Outcome, result.Reason = loop.Timeout, fmt.Sprintf("the run's time limit of %s is over", limits.Wall)
	case bounded.Err() != nil && result.Outcome != loop.Done:
		result.Outcome = loop.Interrupted
		if why := context.Cause(bounded); !errors.Is(why, context.Canceled) { // somebody said why, perhaps before the loop began
			result.Reason = why.Error()
		}
	case invalid.Is(err):
		result.Outcome, result.Reason = loop.Invalid, err.Error()
		if unsigned := (*git.SigningError)(nil); errors.As(err, &unsigned) { // what the turn has done is there
			result.Reason += ", then go on with --resume"
		}
	case err != nil:
		result.Outcome, result.Reason = loop.Failed, err.Error()
	}
	result.State = w.Journal.State()
	return result
}

// softly is when a run is told that its time runs out: at three quarters, 45 minutes of 60 (S0-19).
func softly(wall time.Duration) time.Duration { return wall * 3 / 4 }

// Within bounds a context by the run's deadline, if there is one.
func Within(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline, ErrWall)
}

func (w *Run) tryDrive(ctx, hard context.Context, words Prompts, limits loop.Limits) (loop.Result, error) {
	interrupted := loop.Result{Outcome: loop.Interrupted, Reason: "the run was cancelled"}
	coder, reviewer, err := w.Agents(w.Journal.State)
	if err != nil {
		return interrupted, err
	}
	w.budget = &Budget{limits: limits, state: w.Journal.State, log: w.Log}
	w.budget.tellLimits(&coder.Options, reviewer)
	w.budget.warn()
	coder.budget = w.budget
	prepared := loop.BeginStep(hard, "the preparation of the run", 0)
	defer prepared()
	box, err := w.OpenSandbox(hard)
	if err != nil {
		return interrupted, err
	}
	if w.judging != nil {
		if err := w.judging.Open(hard, box, w.Journal.State().Head()); err != nil {
			return interrupted, err
		}
		defer w.closeJudging()
	}
	if coder.Options.Hooks, err = w.Hooks(coder.Options.Command); err != nil {
		return interrupted, err
	}
	if err := w.setup(hard); err != nil {
		return interrupted, err
	}
	if err := w.AgentStarts(hard, coder.Options, reviewer); err != nil { // only now: the setup may have installed it
		return interrupted, err
	}
	stopped := func() bool { return loop.Stopping(ctx) }
	checks := w.checks(w.Journal.State(), reviewer, words)
	checks.Stopped = stopped
	if err := w.baseline(hard, checks); err != nil {
		return interrupted, err
	}
	checks = w.checks(w.Journal.State(), reviewer, words) // again: the baseline has told of checks that test nothing
	w.paid(checks.Checks)
	checks.Stopping, checks.Stopped = func() bool { return ctx.Err() != nil }, stopped
	var agent loop.Agent = coder
	if w.Plan != nil {
		if agent, err = w.Plan.Agent(w, coder, reviewer); err != nil {
			return interrupted, err
		}
	}
	prepared()
	return loop.Run(ctx, hard, limits, loop.Ports{
		Agent: agent, Plan: w.planFile(), Tree: w.Commits, Checks: checks, Journal: w.Journal, Prompt: words,
		Clock: w.Clock, Log: w.Log, Sleep: w.sleep, Grace: stepGrace,
	})
}

// Conclude keeps what a failed run did on a branch of its own, records the outcome, and pushes: after it nothing can be lost (B-21).
func (w *Run) Conclude(ctx context.Context, view func(loop.State) report.View, result loop.Result) (loop.Result, error) {
	end := loop.End{Outcome: result.Outcome, Reason: result.Reason, Until: result.Until, ForPull: result.ForPull}
	if result.Outcome.Limited() && w.Tree != nil {
		ended := result.State
		ended.End = &end
		name := failureBranch(ended)
		files := map[string][]byte{".ralph_state.md": []byte(report.StateFile(view(ended)))}
		if _, err := w.Tree.FailureBranch(ctx, name, report.FailureCommitMessage(ended), files); err != nil {
			w.Log("keeping the work on %s: %v", name, err) // it is on the run's own branch all the same
		} else {
			end.FailureBranch = name
		}
	}
	if result.Outcome == loop.Done || result.ForPull {
		end.Conflicts = w.conflicts(ctx)
	}
	s, err := w.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: w.Clock(), End: &end})
	if err != nil { // what did not reach the remote is not done
		end = loop.End{Outcome: loop.Failed, Reason: err.Error() + w.keep(ctx, result.State), FailureBranch: end.FailureBranch}
		result.Outcome, result.Reason = end.Outcome, end.Reason
		var alone error
		if s, alone = w.Journal.endUnpushed(ctx, &end); alone != nil {
			w.Log("the run record on the remote does not hold how the run ended: %v", alone)
		}
	}
	result.State = s
	return result, err
}

// mostConflicts bounds the files that a run's end names.
const mostConflicts = 20

// conflicts are the files in which the run's work conflicts with what others have pushed to the branch it goes to since the run began.
func (w *Spec) conflicts(ctx context.Context) []string {
	if w.Tree == nil {
		return nil
	}
	files, err := w.Tree.BaseConflicts(ctx)
	if err != nil {
		w.Log("whether %s can be merged is not known: %v", w.Tree.Branch(), err)
	}
	return files[:min(len(files), mostConflicts)]
}

// keep keeps the work of a run that cannot be pushed, and says where.
func (w *Spec) keep(ctx context.Context, s loop.State) string {
	if !w.savePatch(ctx, s) {
		return ""
	}
	return fmt.Sprintf("; the work is kept as .ralph/runs/%s/work.patch in the job's workspace, for a later step to upload", s.Start.Run)
}

// savePatch keeps the work of a run that cannot be pushed as a file beside the reports, to be applied by hand (B-18).
func (w *Spec) savePatch(ctx context.Context, s loop.State) bool {
	if w.Reports == "" || w.Tree == nil || w.Tree.Head() == s.Start.Base {
		return false
	}
	patch, err := w.Tree.Diff(ctx, s.Start.Base, w.Tree.Head(), maxPatch)
	if err == nil {
		err = os.MkdirAll(w.Reports, 0o755)
	}
	name := filepath.Join(w.Reports, "work.patch")
	if err == nil {
		err = files.Replace(name, []byte(patch))
	}
	if err != nil {
		w.Log("keeping the work as a patch: %v", err)
	}
	return err == nil
}

// maxPatch bounds the patch of a run that could not be pushed.
const maxPatch = 64 << 20

// failureBranch is the name of S0-68.
//
// The time is that of the last turn's end: a job that is killed before it can tell of the branch makes the same one again.
func failureBranch(s loop.State) string {
	task, at := s.Start.Task, s.StartedAt
	if last := s.Last(); last != nil {
		at = last.At.Add(last.Turn.Duration)
	}
	return fmt.Sprintf("wip/ralph-fail-%s-%s", task, at.UTC().Format("20060102-150405"))
}

// NewRun names a run: when it began, to the millisecond in the first three digits of the end so that names sort by time, and four digits
// that nobody knew before.
func NewRun(at time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%03x%x", at.UTC().Format("20060102-150405"), at.Nanosecond()/int(time.Millisecond), b)
}
