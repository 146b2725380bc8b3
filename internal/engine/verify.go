package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// verified are the promises of the roles that write, each verified on every tree that is made after it was given.
func (w *Run) verified(s loop.State, words Prompts) []check.Check {
	var list []check.Check
	for _, r := range s.Writers() {
		if v := w.Verify(s, r, words); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// Verify is how one role's promise is verified; nil when nothing was said of the role.
func (w *Run) Verify(s loop.State, r task.Role, words Prompts) *check.Verify {
	of := s.Start.Completion.For(r)
	if of == nil {
		return nil
	}
	return &check.Verify{
		Role: r, Criteria: *of, Acceptance: s.Start.Completion.Acceptance, Log: w.Log,
		Runner: check.Runner{
			Dir: w.checkDir(), Stray: w.strayCheck, Env: w.checkEnvironment(), As: w.User, Box: w.box(sandbox.Checks), LogDir: w.Logs, LogAs: w.logsFrom(), Redact: w.shown, Console: w.Console,
			Scaled: w.Settings.Scaled, Lacks: lacksTool, Present: w.present(strings.Join(s.Start.Completion.Commands(), "\n")), Versions: detect.VersionFiles,
		},
		Said: w.wordsOf,
		Ask:  w.asker(), Again: check.Again,
		Diff: w.change,
	}
}

// maxSemanticDiff bounds the diff in the question to a model that is to verify a promise.
const maxSemanticDiff = 20 << 10

// change is the run's change for the model of a semantic verification, which has no tools to read it with.
func (w *Spec) change(ctx context.Context, s loop.State) (string, error) {
	return w.Tree.Diff(ctx, s.Start.Base, s.Last().Commit.SHA, maxSemanticDiff)
}

// asker asks a model through the agent: a fresh context, no tools, the cheapest model there is.
func (w *Run) asker() check.Asker {
	return func(ctx context.Context, asked, model string) (loop.Turn, error) {
		set := w.Settings
		o := agent.Options{
			Command: set.Agent.Command, Flags: set.Agent.Args(), Model: cmp.Or(model, agent.CheapModel(set.Agent.Command), set.Agent.Model),
			Dir: w.Workspace.Dir(), Parent: w.Parent, Allow: set.Environment, Home: w.Home, As: w.User, Timeout: set.ReviewTimeout(), Idle: set.ReviewIdleTimeout(), Grace: w.grace(),
			ReadOnly: true, NoTools: true, Schema: check.SemanticSchema, Keys: w.Keys, Extra: w.Workspace.Env(), Box: w.box(sandbox.Reads), LogFile: filepath.Join(w.Dir, "semantic.log"),
		}
		return w.budget.Turn(ctx, o, asked)
	}
}
