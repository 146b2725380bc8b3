package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// MaxDiff bounds the diff in a reviewer's prompt; the reviewer can read the rest in its checkout.
const MaxDiff = 200 << 10

func (w *Run) review(reviewer agent.Options, words Prompts, r task.Role, of *task.Criteria) *check.Review {
	promise := ""
	if of != nil {
		promise = of.Promise
		reviewer.Schema = check.PromisedSchema
		reviewer.Promises, reviewer.Completion = []string{promise}, ""
	}
	return &check.Review{
		Again: check.Again, Log: w.Log,
		Pause: func(ctx context.Context, d time.Duration, why string) {
			w.sleep(ctx, loop.Pause{Until: w.Clock().Add(d), Reason: why})
		},
		Checkout: w.Copies.Checkout,
		Prompt: func(ctx context.Context, at check.At) (string, error) {
			c := at.Iteration.Commit
			diff, err := w.Copies.diff(ctx, at.State.Start.Base, c.SHA, MaxDiff)
			if err != nil {
				return "", fmt.Errorf("making the reviewer's diff: %w", err)
			}
			return words.Judge(at.State, r, c.Tree, diff, promise, noticed(at.So))
		},
		Ask: func(ctx context.Context, c check.Checkout, asked string) (loop.Turn, error) {
			o := reviewer
			o.Dir, o.Extra = c.Dir(), c.Env()
			o.LogFile, o.Title = filepath.Join(w.Dir, string(r)+".log"), "Judged by the "+string(r)
			defer loop.BeginStep(ctx, "the turn of the "+string(r), o.Timeout)()
			return w.budget.Turn(ctx, o, asked)
		},
	}
}

// noticed is what a reviewer should look at with care: what warns.
func noticed(so []loop.Verdict) []loop.Verdict {
	return slices.DeleteFunc(slices.Clone(so), func(v loop.Verdict) bool {
		return v.Skipped != "" || v.Pass && !v.Flaky || v.Severity == loop.Hard && !v.Flaky
	})
}

// maxSemanticDiff bounds the diff in the question to a model that is to verify a promise.
const maxSemanticDiff = 20 << 10

// change is the run's change for the model of a semantic verification, which has no tools to read it with.
func (w *Spec) change(ctx context.Context, s loop.State) (string, error) {
	return w.Tree.Diff(ctx, s.Start.Base, s.Last().Commit.SHA, maxSemanticDiff)
}

// asker asks a model through the agent: a fresh context, no tools, the cheapest model there is (S2-19).
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

// paid lets no check begin that asks a model while nothing is left to pay it with. It is skipped then, so that the run is not done (B-28).
func (w *Run) paid(list []check.Check) {
	first := func(then func(check.At) string) func(check.At) string {
		return func(at check.At) string {
			if _, empty := w.budget.left(); empty != "" {
				return empty
			}
			return then(at)
		}
	}
	for _, c := range list {
		switch c := c.(type) {
		case *check.Review:
			after := c.After
			if after == nil {
				after = func(check.At) string { return "" }
			}
			c.After = first(after)
		case *check.Verify:
			after := c.After
			if after == nil {
				after = check.Awaits(cmp.Or(c.Role, task.Coder))
			}
			if asksModel(c.Criteria) {
				c.After = first(after)
			}
		}
	}
}

// asksModel reports whether criteria are verified by a model.
func asksModel(of task.Criteria) bool {
	if of.Config != nil && of.Method == task.MultiStage {
		return slices.ContainsFunc(of.Config.Stages, func(s task.Stage) bool { return s.Method == task.Semantic })
	}
	return of.Method == task.Semantic
}

// Teller is what checks tell their results through.
func (w *Spec) Teller() func(format string, args ...any) {
	if w.Tell != nil {
		return w.Tell
	}
	return w.Log
}
