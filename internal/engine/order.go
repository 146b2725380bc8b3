package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

// checks lists everything that can say no, in the order in which it is asked.
func (run *Run) checks(s loop.State, reviewer *agent.Options, words Prompts) check.List {
	out := check.List{Tree: run.CheckTree(), Clock: run.Clock, Log: run.CheckLogger(),
		MustPass: run.OfPrompt || run.Settings.Baseline == config.BaselinePass}
	if run.Tree != nil {
		out.BaseTree = run.Tree.BaseTree()
	}
	switch {
	case run.OfPrompt:
		out.Checks = run.checksOfPrompt(s, reviewer, words)
	case run.Plan != nil:
		out.Checks = run.checksOfPlan(s, reviewer)
	default:
		out.Checks = run.checksOfIssue(s, reviewer, words)
	}
	return out
}

// checksOfPrompt are those of a run of a prompt, which commits nothing: the claim is examined last.
func (run *Run) checksOfPrompt(s loop.State, reviewer *agent.Options, words Prompts) []check.Check {
	return slices.Concat(
		list{check.Turn{}},
		run.Guardrails(s),
		run.sourceControl(),
		list{check.Claim{Completion: run.Settings.CompletionResponse, Last: true}},
		run.reviewer(reviewer, words),
	)
}

// checksOfPlan are those of a run of a plan. Its reviews are turns of their own.
func (run *Run) checksOfPlan(s loop.State, reviewer *agent.Options) []check.Check {
	changes, guards := run.changes(), run.Guardrails(s)
	return slices.Concat(
		list{check.Turn{}, check.Plan{}},
		list{check.Handed{File: run.Plan.Path()}},
		list{check.StoryDiff{Own: run.Plan.Paths(), Changed: run.Tree.Changed}},
		list{&check.Protected{Globs: run.Settings.Protected, Changes: changes}},
		run.credentials(changes),
		guards,
		run.weakened(changes),
		run.baseTests(changes, guards),
		run.unfinished(changes, reviewer),
		run.newestBase(guards),
		run.otherWorkflows(),
		list{check.Accepted{Now: afterReview}},
	)
}

// afterReview reports whether a story's review is over, or there is none: before that, findings are for the reviewer.
func afterReview(at check.Input) bool {
	return at.Iteration.Mode == loop.Review || at.State.Rules().SkipReview
}

// checksOfIssue are those of a run of an issue or a task.
func (run *Run) checksOfIssue(s loop.State, reviewer *agent.Options, words Prompts) []check.Check {
	changes, guards := run.changes(), run.Guardrails(s)
	return slices.Concat(
		list{check.Turn{}},
		list{check.Claim{Completion: run.Settings.CompletionResponse, Promise: s.Promise}},
		list{&check.Protected{Globs: run.Settings.Protected, Changes: changes}},
		run.credentials(changes),
		guards,
		list{check.Diff{Changes: changes, Kept: run.kept()}},
		list{uncommitted{run.judging}},
		run.weakened(changes),
		run.baseTests(changes, guards),
		run.unfinished(changes, reviewer),
		run.newestBase(guards),
		run.verified(s, words),
		run.otherWorkflows(),
		run.judges(s, reviewer, words),
		list{check.Accepted{}},
	)
}

// list shortens the three above.
type list = []check.Check
