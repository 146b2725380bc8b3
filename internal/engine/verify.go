package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// verified are the promises of the roles that write, each verified on every tree that is made after it was given.
func (run *Run) verified(s loop.State, words Prompts) []check.Check {
	var list []check.Check
	for _, r := range s.Writers() {
		if v := run.Verify(s, r, words); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// Verify is how one role's promise is verified; nil when nothing was said of the role.
func (run *Run) Verify(s loop.State, r task.Role, words Prompts) *check.Verify {
	of := s.Start.Completion.For(r)
	if of == nil {
		return nil
	}
	return &check.Verify{
		Role: r, Criteria: *of, Acceptance: s.Start.Completion.Acceptance, Log: run.Log,
		Runner: check.Runner{
			Place: checkPlace(run), Scaled: run.Settings.Scaled,
			Programs: run.programs(strings.Join(s.Start.Completion.Commands(), "\n")),
		},
		Said: run.wordsOf,
		Ask:  run.asker(), Again: check.Again,
		Diff: run.change,
	}
}

// maxSemanticDiff bounds the diff in the question to a model that is to verify a promise.
const maxSemanticDiff = 20 << 10

// change is the run's change for the model of a semantic verification, which has no tools to read it with.
func (spec *Spec) change(ctx context.Context, s loop.State) (string, error) {
	return spec.Tree.Diff(ctx, s.ChangeBase(), s.Last().Commit.SHA, maxSemanticDiff)
}

// asker asks a model through the agent: a fresh context, no tools, the cheapest model there is.
func (run *Run) asker() check.Asker {
	return func(ctx context.Context, asked, model string) (loop.Turn, error) {
		set := run.Settings
		o := agent.Options{
			Command: set.Agent.Command, Flags: set.Agent.Args(),
			Model: cmp.Or(model, agent.CheapModel(set.Agent.Command), set.Agent.Model), Dir: run.Workspace.Dir(),
			Parent: run.Parent, Allow: set.Environment, Home: run.Home, As: run.User, Timeout: set.ReviewTimeout(),
			Idle: set.ReviewIdleTimeout(), Grace: run.grace(), ReadOnly: true, NoTools: true,
			Schema: check.SemanticSchema, Keys: run.Keys, Box: run.box(sandbox.Reads),
			Limits:  run.limits(),
			LogFile: filepath.Join(run.Dir, "semantic.log"),
		}
		o, _, err := run.withGateway(o, &run.told)
		if err != nil {
			return loop.Turn{}, err
		}
		return run.budget.Turn(ctx, o, asked)
	}
}
