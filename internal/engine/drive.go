package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
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

// softly is when a run is told that its time runs out: at three quarters, 45 minutes of 60.
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
