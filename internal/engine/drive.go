package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// ErrWall is why a run's context ends when its time limit is over.
var ErrWall = errors.New("the run's time limit is over")

// Drive takes an opened run to its outcome: setup, baseline, loop. It publishes and pushes nothing at the end; Conclude
// does. Errors become outcomes here: from now on, a run always ends with one. When ctx is done nothing new is begun,
// when hard is done what runs is stopped.
func (run *Run) Drive(ctx, hard context.Context, words Prompts) loop.Result {
	limits := limited(
		loop.Limits{Wall: run.Wall, NoWait: !run.Settings.WaitForLimits, NoStuckDetection: run.OfPrompt}, run.Settings,
	)
	if limits.Wall > 0 {
		now := run.Clock()
		limits.Deadline, limits.Soft = now.Add(limits.Wall), now.Add(softly(limits.Wall))
		warning := time.AfterFunc(softly(limits.Wall), func() {
			run.Log("warning: the run has taken %s; it is stopped at %s", softly(limits.Wall), limits.Wall)
		})
		defer warning.Stop()
	}
	loop.RecordLimits(hard, limits)
	bounded, cancel := Until(ctx, limits.Deadline)
	defer cancel()
	stopped, stop := Until(hard, limits.Deadline)
	defer stop()
	result, err := run.tryDrive(bounded, stopped, words, limits)
	switch {
	case errors.Is(context.Cause(bounded), ErrWall) && result.Outcome != loop.Done:
		result.Outcome, result.Reason = loop.Timeout, fmt.Sprintf("the run's time limit of %s is over", safetext.Duration(limits.Wall))
	case bounded.Err() != nil && result.Outcome != loop.Done:
		result.Outcome = loop.Interrupted
		// someone said why, perhaps before the loop began
		if why := context.Cause(bounded); !errors.Is(why, context.Canceled) {
			result.Reason = why.Error()
		}
	case invalid.Is(err):
		if _, unsigned := errors.AsType[*git.SigningError](err); unsigned { // what the turn has done is there
			err = fmt.Errorf("%w, then resume with --resume", err)
		}
		result.Outcome, result.Reason, result.Mistake = loop.Invalid, err.Error(), err
	case err != nil:
		result.Outcome, result.Reason = loop.Failed, err.Error()
	}
	result.State = run.Journal.State()
	return result
}

// softly is when a run is warned that its time ends: after 75%, 45 minutes of 60.
func softly(wall time.Duration) time.Duration { return wall * 3 / 4 }

// Until bounds a context by the run's deadline, if there is one.
func Until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline, ErrWall)
}

func (run *Run) tryDrive(ctx, hard context.Context, words Prompts, limits loop.Limits) (loop.Result, error) {
	interrupted := loop.Result{Outcome: loop.Interrupted, Reason: "the run was canceled"}
	coder, reviewer, err := run.Agents()
	if err != nil {
		return interrupted, err
	}
	run.budget = &Budget{limits: limits, state: run.Journal.State, log: run.Log}
	if err := run.budget.tellLimits(&coder.Options, reviewer); err != nil {
		return interrupted, err
	}
	run.budget.warn()
	for _, warning := range run.Settings.Warnings() {
		run.Log("warning: %s", warning)
	}
	prepared := loop.BeginStep(hard, "the preparation of the run", 0)
	defer prepared()
	closeTree, err := run.prepare(hard, &coder, reviewer)
	defer closeTree()
	if err != nil {
		return interrupted, err
	}
	checks, err := run.judgedBy(ctx, hard, reviewer, words)
	if err != nil {
		return interrupted, err
	}
	var agent loop.Agent = coder
	if run.Plan != nil {
		if agent, err = run.Plan.Agent(run, coder, reviewer); err != nil {
			return interrupted, err
		}
	}
	prepared()
	return loop.Run(ctx, hard, limits, loop.Ports{
		Agent: agent, Plan: run.planFile(), Tree: shownCommits{run}, Checks: checks,
		Journal: run.Journal, Prompt: words,
		Hear: run.hear, Back: run.Tree.GoBack,
		Clock: run.Clock, Log: run.Log, Sleep: run.sleep, Grace: cmp.Or(run.LastCommit, stepGrace),
	})
}

// prepare opens the sandbox and the tree of the checks, runs the setup, and finds out that the agent could not begin.
// closeTree is never nil.
func (run *Run) prepare(ctx context.Context, coder *Coder, reviewer *agent.Options) (closeTree func(), err error) {
	closeTree = func() {}
	box, err := run.openSandbox(ctx)
	if err != nil {
		return closeTree, err
	}
	if run.judging != nil {
		if err := box.KeepCaches(run.Caches, run.Journal.State().Start.Base); err != nil {
			return closeTree, err
		}
		if err := run.judging.Open(ctx, box, run.Journal.State().Head()); err != nil {
			return closeTree, err
		}
		closeTree = run.closeJudging
	}
	if coder.Options.Hooks, err = run.Hooks(coder.Options.Command); err != nil {
		return closeTree, err
	}
	if err := run.setup(ctx); err != nil {
		return closeTree, err
	}
	return closeTree, run.AgentStarts(ctx, coder.Options, reviewer) // only now: the setup may have installed it
}

// judgedBy are the run's checks, once they have run on the base commit.
func (run *Run) judgedBy(ctx, hard context.Context, reviewer *agent.Options, words Prompts) (check.List, error) {
	checks := run.checks(ctx, run.Journal.State(), reviewer, words)
	if err := run.baseline(hard, checks); err != nil {
		return checks, err
	}
	if err := run.boxes.sandbox.SealCaches(); err != nil {
		return checks, err
	}
	// again: the baseline has told of checks that test nothing
	return run.checks(ctx, run.Journal.State(), reviewer, words), nil
}
