package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// MaxDiff bounds the diff in a reviewer's prompt; the reviewer can read the rest in its checkout.
const MaxDiff = 200 << 10

func (run order) review(r task.Role, of *task.Criteria) *check.Review {
	promise, reviewer := "", *run.reviewer
	if of != nil {
		promise = of.Promise
		reviewer.Schema = check.PromisedSchema
		reviewer.Promises, reviewer.Completion = []string{promise}, ""
	}
	schema := reviewer.Schema
	return &check.Review{
		Log: run.Log,
		Pause: func(ctx context.Context, d time.Duration, why string) {
			run.sleep(ctx, loop.Pause{Until: run.Clock().Add(d), Reason: why})
		},
		Checkout: func(ctx context.Context, commit string) (check.Checkout, error) {
			return run.Copies.Review(ctx, commit)
		},
		Prompt: func(ctx context.Context, at check.Input) (string, error) {
			if run.hear(ctx) {
				at.State = run.Journal.State()
			}
			c := at.Iteration.Commit
			diff, err := run.Copies.Diff(ctx, cmp.Or(c.Base, at.State.ChangeBase()), c.SHA, MaxDiff)
			if err != nil {
				return "", fmt.Errorf("making the reviewer's diff: %w", err)
			}
			reviewer.Schema = schema
			if len(loop.ForReaders(at.State.Open(at.Verdicts))) > 0 {
				reviewer.Schema = check.AcceptingSchema(schema)
			}
			return run.words.Judge(at.State, r, c.Tree, diff, promise, noticed(at.Verdicts))
		},
		Ask: func(ctx context.Context, c check.Checkout, asked string) (loop.Turn, error) {
			if err := run.judging.putHomeBack(); err != nil { // a check may have changed it
				return loop.Turn{}, err
			}
			o := reviewer
			o.Dir, o.Extra = c.Dir(), c.Env()
			o.LogFile, o.Title = filepath.Join(run.Dir, string(r)+".log"), "Judged by the "+string(r)
			defer loop.BeginStep(ctx, "the turn of the "+string(r), o.Timeout)()
			return run.budget.Turn(ctx, o, asked)
		},
	}
}

// noticed is what a reviewer should look at with care: what warns, and what a soft check that passes has to say.
func noticed(so []loop.Verdict) []loop.Verdict {
	return slices.DeleteFunc(slices.Clone(so), func(v loop.Verdict) bool {
		return v.Skipped != "" || !v.Flaky && (v.Pass && !v.Says() || v.Severity == loop.Hard)
	})
}

// judges are the roles that read, in their order; they wait until every role that writes has done its part.
func (run order) judges() []check.Check {
	s := run.s
	if run.reviewer == nil {
		return nil
	}
	if len(s.Start.Pipeline) == 0 {
		return []check.Check{run.review(task.Reviewer, nil)}
	}
	writers := s.Writers()
	after := check.Awaits(writers[len(writers)-1])
	var list []check.Check
	for _, r := range s.Start.Pipeline {
		// a review that was switched off, for a run that began with one
		if !r.ReadOnly() || r == task.Reviewer && !run.Settings.Review {
			continue
		}
		c := run.review(r, s.Start.Completion.For(r))
		c.Role, c.After, c.Most = r, after, s.Start.Caps[r]
		if c.Verify = run.Verify(s, r); c.Verify != nil {
			c.Promise = c.Verify.Criteria.Promise
		}
		list = append(list, c)
	}
	return list
}

// verified are the promises of the roles that write, each verified on every tree that is made after it was given.
func (run order) verified() []check.Check {
	var list []check.Check
	for _, r := range run.s.Writers() {
		if v := run.Verify(run.s, r); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// Verify is how one role's promise is verified; nil when nothing was said of the role.
func (run *Run) Verify(s loop.State, r task.Role) *check.Verify {
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
		Ask:  run.asker(),
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
			Command: run.agentCommand(set.Agent.Command), Flags: set.Agent.Args(),
			Model: cmp.Or(model, agent.CheapModel(set.Agent.Command), set.Agent.Model), Dir: run.Workspace.Dir(),
			Host: run.host(run.box(sandbox.Reads)),
			Bounds: agent.Bounds{
				Timeout: set.ReviewTimeout(), Idle: set.ReviewIdleTimeout(), Grace: run.grace(), Limits: run.limits(),
			},
			Rights: agent.Rights{ReadOnly: true, NoTools: true}, Answer: agent.Answer{Schema: check.SemanticSchema},
			LogFile: filepath.Join(run.Dir, "semantic.log"),
		}
		o, _, err := run.withGateway(o, &run.logged)
		if err != nil {
			return loop.Turn{}, err
		}
		return run.budget.Turn(ctx, o, asked)
	}
}
