package engine

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

// checks lists everything that can say no, in the order in which it is asked.
// Nothing new begins when ctx is done.
func (run *Run) checks(ctx context.Context, s loop.State, reviewer *agent.Options, words Prompts) check.List {
	out := check.List{Tree: run.CheckTree(), Clock: run.Clock, Log: run.CheckLogger(),
		MustPass: run.OfPrompt || run.Settings.Baseline == config.BaselinePass,
		Unpaid:   func() string { _, empty := run.budget.left(); return empty },
		Stopping: func() bool { return ctx.Err() != nil },
		Stopped:  func() bool { return loop.Stopping(ctx) },
	}
	if run.Tree != nil {
		out.BaseTree = run.Tree.BaseTree()
	}
	o := order{run, s, reviewer, words}
	switch {
	case run.OfPrompt:
		out.Checks = o.ofPrompt()
	case run.Plan != nil:
		out.Checks = o.ofPlan()
	default:
		out.Checks = o.ofIssue()
	}
	return out
}

// ofPrompt are those of a run of a prompt, which commits nothing: the claim is examined last.
func (run order) ofPrompt() []check.Check {
	return slices.Concat(
		list{check.Turn{}},
		run.Guardrails(run.s),
		optional(run.SCM),
		list{check.Claim{Completion: run.Settings.CompletionResponse, Last: true}},
		run.judges(),
	)
}

// ofPlan are those of a run of a plan. Its reviews are turns of their own.
func (run order) ofPlan() []check.Check {
	changes, guards := run.changes(), run.Guardrails(run.s)
	return slices.Concat(
		list{check.Turn{}, check.Plan{}},
		list{check.Handed{File: run.Plan.Path()}},
		list{check.StoryDiff{Own: run.Plan.Paths(), Changed: run.Tree.Changed}},
		list{&check.Protected{Globs: run.Settings.Protected, Changes: changes}},
		run.credentials(changes),
		guards,
		run.weakened(changes),
		run.baseTests(changes, guards),
		run.unfinished(changes),
		run.newestBase(guards),
		optional(run.CI),
		list{check.Accepted{Now: afterReview}},
	)
}

// afterReview reports whether a story's review is over, or the run has no reviews: before that, findings are for the
// reviewer.
func afterReview(at check.Input) bool {
	return at.Iteration.Mode == loop.Review || at.State.Rules().SkipReview
}

// ofIssue are those of a run of an issue or a task.
func (run order) ofIssue() []check.Check {
	changes, guards := run.changes(), run.Guardrails(run.s)
	return slices.Concat(
		list{check.Turn{}},
		list{check.Claim{Completion: run.Settings.CompletionResponse, Promise: run.s.Promise}},
		list{&check.Protected{Globs: run.Settings.Protected, Changes: changes}},
		run.credentials(changes),
		guards,
		list{check.Diff{Changes: changes, Kept: run.kept()}},
		list{uncommitted{run.judging}},
		run.weakened(changes),
		run.baseTests(changes, guards),
		run.unfinished(changes),
		run.newestBase(guards),
		run.verified(),
		optional(run.CI),
		run.judges(),
		list{check.Accepted{}},
	)
}

// list shortens the three above.
type list = []check.Check
