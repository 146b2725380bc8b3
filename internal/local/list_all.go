package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/bisect"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// All is what happened to all that is done of a list, on one branch. That each task passed says nothing of what they are
// together.
type All struct {
	Outcome  loop.Outcome // done: the checks have passed on it
	Reason   string
	Branch   string
	Commit   string   // empty: it could not be put together
	Tasks    []string // those that are done
	Apart    []string // those that do not go together
	Files    []string // that they conflict in
	Verdicts []loop.Verdict
}

// allOpening opens the run of the branch that holds all that is done of a list, and runs the checks on it. To its record
// it is a run without an iteration, whose base holds it all. It always begins again: it costs nothing but the time of the
// checks.
type allOpening struct {
	cloneOpening
	*All
	done map[string]loop.State // of the tasks, by their ids
	work *engine.Run
	list check.List
}

// Prepare implements engine.Opener.
func (o *allOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	o.given, o.wanted = *o.IssueRun.given, *o.one
	if o.before, o.dir, err = o.NewestRun(o.wanted.ID); err != nil {
		return b, err
	}
	o.EachSealedRun(o.wanted.ID, func(s loop.State) {
		if s.Tip == "" { // merges of ralph's own, and what they merge is on other branches
			o.listStart.replaces = append(o.listStart.replaces, s.Start.Base)
		}
	})
	if err := o.openClone(ctx, work, loop.Begin); err != nil {
		return b, err
	}
	return o.beginning(ctx, work, loop.Begin)
}

// settle judges, and settles the outcome. An error is one of ours.
func (o *allOpening) settle(ctx, hard context.Context) error {
	deadline := time.Time{}
	if o.work.Wall > 0 {
		deadline = o.Clock().Add(o.work.Wall)
	}
	ctx, cancel := engine.Until(ctx, deadline)
	defer cancel()
	hard, stop := engine.Until(hard, deadline)
	defer stop()
	err := o.judge(ctx, hard)
	failed := failure(o.Verdicts)
	o.Outcome = loop.Failed
	switch {
	case errors.Is(context.Cause(ctx), engine.ErrWall):
		o.Outcome, o.Reason = loop.Timeout, fmt.Sprintf("the time limit of %s is over", safetext.Duration(o.work.Wall))
	case ctx.Err() != nil:
		o.Outcome, o.Reason = loop.Interrupted, "interrupted while the checks ran; the next start runs them again"
	case err != nil:
		if o.Reason = err.Error(); invalid.Is(err) {
			o.Outcome = loop.Invalid
		}
		return err
	case failed == nil:
		o.Outcome, o.Reason = loop.Done, "the checks pass on all that is done"
	default:
		o.Reason = fmt.Sprintf(
			"%s fails on all that is done: %s; %s", failed.Check, failed.Reason, report.ConflictLine(o.Apart),
		)
	}
	return nil
}

// judge runs the checks on the whole, and when they fail there, on parts of it.
func (o *allOpening) judge(ctx, hard context.Context) error {
	w := o.work
	if err := w.Tree.PushBase(hard); err != nil {
		return err
	}
	on := " is on " + o.Branch
	if in, _ := w.Tree.Held(); in != "" {
		on = fmt.Sprintf(" is commit %.12s", o.Commit)
	}
	o.Log("all that is done, %s,%s; the checks run on it", strings.Join(o.Tasks, ", "), on)
	defer loop.BeginStep(hard, "the checks on all that is done", 0)()
	closeTree, err := w.OpenJudging(hard, o.Commit)
	defer closeTree()
	if err != nil {
		return err
	}
	s := w.Journal.State()
	o.list = check.List{
		Checks: append(w.Guardrails(s), o.promises()...), Tree: w.CheckTree(), Clock: w.Clock, Log: w.CheckLogger(),
		Stopping: func() bool { return ctx.Err() != nil }, Stopped: func() bool { return loop.Stopping(ctx) },
	}
	if o.Verdicts, err = o.on(hard, s, o.Commit); err != nil {
		return err
	}
	if err := w.Explain(hard, o.Verdicts); err != nil {
		return err
	}
	record := loop.Record{Type: loop.Baselined, At: w.Clock(), Baseline: o.Verdicts}
	if _, err := w.Journal.Append(hard, record); err != nil || failure(o.Verdicts) == nil {
		return err
	}
	return o.findApart(hard, s)
}

// promises are the commands that verified what the tasks promised.
func (o *allOpening) promises() (list []check.Check) {
	for _, name := range o.Tasks {
		s := o.done[name]
		for _, r := range task.Roles {
			if of := s.Start.Completion.For(r); of != nil && len(of.Externals()) > 0 {
				list = append(list, &check.Reverify{Task: name, Verify: o.work.Verify(s, r)})
			}
		}
	}
	return list
}

// on runs the checks on a commit.
func (o *allOpening) on(ctx context.Context, s loop.State, commit string) ([]loop.Verdict, error) {
	tree, err := o.tree.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	return o.list.Alone(ctx, s, loop.Commit{SHA: commit, Tree: tree})
}

// findApart finds out which tasks do not go together, by running the checks on parts of the whole.
func (o *allOpening) findApart(ctx context.Context, s loop.State) error {
	heads, err := o.heads(ctx)
	if err != nil {
		return err
	}
	if len(heads) > 1 {
		o.Log("the checks fail on all that is done, and passed on each task alone: looking for those that do not go together")
	}
	found, err := bisect.FindConflict(len(heads), func(some []int) (bool, error) {
		with := safetext.Map(some, func(i int) git.Work { return heads[i] })
		o.Log("checks on %s together", strings.Join(safetext.Map(with, func(w git.Work) string { return w.Name }), ", "))
		commit, err := o.tree.Merged(ctx, with)
		if err != nil {
			return false, err
		}
		verdicts, err := o.on(ctx, s, commit)
		return failure(verdicts) != nil, err
	})
	o.Apart = safetext.Map(found, func(i int) string { return heads[i].Name })
	return err
}

// heads are the tasks whose work no other one is built on.
func (o *allOpening) heads(ctx context.Context) (heads []git.Work, err error) {
	for i, one := range o.start.with {
		within := false
		for k, other := range o.start.with {
			if k == i || other.Commit == one.Commit && k > i {
				continue
			}
			has, err := git.Contains(ctx, o.Dir, o.Parent, other.Commit, one.Commit)
			if err != nil {
				return nil, err
			}
			within = within || has
		}
		if !within {
			heads = append(heads, one)
		}
	}
	return heads, nil
}

// failure is the verdict that a commit fails by, or nil.
func failure(verdicts []loop.Verdict) *loop.Verdict {
	return loop.Iteration{Verdicts: verdicts}.Failure()
}
