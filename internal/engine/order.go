package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
)

// checks lists everything that can say no, in the order in which it is asked.
func (w *Run) checks(s loop.State, reviewer *agent.Options, words Prompts) check.List {
	out := check.List{Tree: w.CheckTree(), Clock: w.Clock, Log: w.Teller()}
	if w.Tree != nil {
		out.BaseTree = w.Tree.BaseTree()
	}
	switch {
	case w.OfPrompt:
		out.Checks = w.checksOfPrompt(s, reviewer, words)
	case w.Plan != nil:
		out.Checks = w.checksOfPlan(s, reviewer)
	default:
		out.Checks = w.checksOfIssue(s, reviewer, words)
	}
	return out
}

// checksOfPrompt are those of a run of a prompt, which commits nothing: the claim is looked at last.
func (w *Run) checksOfPrompt(s loop.State, reviewer *agent.Options, words Prompts) []check.Check {
	return slices.Concat(
		list{check.Turn{}},
		w.Guardrails(s),
		w.sourceControl(),
		list{check.Claim{Completion: w.Settings.CompletionResponse, Last: true}},
		w.reviewer(reviewer, words),
	)
}

// checksOfPlan are those of a run of a plan. Its reviews are turns of their own.
func (w *Run) checksOfPlan(s loop.State, reviewer *agent.Options) []check.Check {
	changes := w.changes()
	return slices.Concat(
		list{check.Turn{}, check.Plan{}},
		list{check.Handed{File: w.Plan.Path()}},
		list{check.StoryDiff{Own: w.Plan.Paths(), Changed: w.Tree.Changed}},
		list{&check.Protected{Globs: w.Settings.Protected, Changes: changes}},
		w.edited(changes),
		w.Guardrails(s),
		w.weakened(changes, reviewer),
		w.unfinished(changes, reviewer),
		w.otherWorkflows(),
	)
}

// checksOfIssue are those of a run of an issue or a task.
func (w *Run) checksOfIssue(s loop.State, reviewer *agent.Options, words Prompts) []check.Check {
	changes := w.changes()
	return slices.Concat(
		list{check.Turn{}},
		list{check.Claim{Completion: w.Settings.CompletionResponse, Promise: s.Promise}},
		list{&check.Protected{Globs: w.Settings.Protected, Changes: changes}},
		w.edited(changes),
		w.Guardrails(s),
		list{check.Diff{Changes: changes, Kept: w.kept()}},
		list{uncommitted{w.judging}},
		w.weakened(changes, reviewer),
		w.unfinished(changes, reviewer),
		w.verified(s, words),
		w.otherWorkflows(),
		w.judges(s, reviewer, words),
	)
}

// list shortens the three above.
type list = []check.Check
