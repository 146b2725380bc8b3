package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/bisect"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
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

// wholeList makes the branch that holds all that is done of a list, and runs the checks on it. To its record it is a
// run without an iteration, whose base holds it all.
type wholeList struct {
	IssueRun
	name string // "all-todo"
	at   session.Checkout
	base start      // of every task
	with []git.Work // of the tasks that are done, in their order
}

// allOpening opens that run. It always begins again: it costs nothing but the time of the checks.
type allOpening struct{ cloneOpening }

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

// opening is the request for the run.
func (a *wholeList) opening() *allOpening {
	one := a.IssueRun
	t := task.Task{
		ID: a.name, Title: "All that is done of " + strings.TrimPrefix(a.name, "all-"),
		Completion: &task.Completion{Outcome: "all tasks are done, together"},
	}
	stands := a.base
	stands.with = a.with
	for _, w := range a.with {
		t.Completion.Acceptance = append(t.Completion.Acceptance, w.Name+" is done")
	}
	one.one, one.listStart, one.Fresh, one.Resume, one.Criteria, one.Task = &t, &stands, true, false, nil, ""
	return &allOpening{cloneOpening{IssueRun: &one, judges: true, at: a.at}}
}

// run makes the branch and judges it.
func (a *wholeList) run(ctx, hard context.Context, done map[string]loop.State) (*All, error) {
	o := a.opening()
	all := &All{Branch: "ralph/" + a.name}
	for _, w := range o.listStart.with {
		all.Tasks = append(all.Tasks, w.Name)
	}
	_, work, err := engine.Open(ctx, o)
	defer work.Close()
	if err != nil {
		o.leaveUnbegun(ctx)
	}
	var apart *git.MergeError
	switch {
	case errors.As(err, &apart):
		all.Outcome, all.Apart, all.Files = loop.Failed, apart.Names, apart.Files
		all.Reason = apart.Error() + "; let one of them depend on the other, so that it is done on top of that"
		a.Log("%s is not made: %s", all.Branch, all.Reason)
		return all, nil
	case err != nil:
		all.Outcome, all.Reason = outcomeOf(err), err.Error()
		return all, fmt.Errorf("putting together all that is done: %w", files.Advise(err))
	}
	work.Journal.Watch = nil // the state file reports a task
	all.Commit = work.Tree.Base()
	j := allJudge{Run: work, done: done, with: o.listStart.with, all: all}
	err = j.run(ctx, hard, work.Journal)
	late, cancel := engine.AfterStop(ctx, hard, time.Minute)
	defer cancel()
	end := &loop.End{Outcome: all.Outcome, Reason: all.Reason}
	if _, failed := work.Journal.Append(late, loop.Record{Type: loop.Ended, At: a.Clock(), End: end}); failed != nil {
		all.Outcome, all.Reason = loop.Failed, failed.Error()
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, o.tree.Remove(late), o.at.Remove()) // its branch has all that there is
	a.Log("%s: %s: %s", all.Branch, all.Outcome, all.Reason)
	a.tellHeld(work.Tree)
	return all, err
}

// allJudge runs the checks on all that is done.
type allJudge struct {
	*engine.Run
	done map[string]loop.State
	with []git.Work
	all  *All
	list check.List
}

// run judges, and settles the outcome. An error is one of ours.
func (j *allJudge) run(ctx, hard context.Context, l *engine.Journal) error {
	w := j.Run
	deadline := time.Time{}
	if w.Wall > 0 {
		deadline = w.Clock().Add(w.Wall)
	}
	ctx, cancel := engine.Until(ctx, deadline)
	defer cancel()
	hard, stop := engine.Until(hard, deadline)
	defer stop()
	err := j.judge(ctx, hard, l)
	failed := firstFailure(j.all.Verdicts)
	switch {
	case errors.Is(context.Cause(ctx), engine.ErrWall):
		j.all.Outcome, j.all.Reason = loop.Timeout, fmt.Sprintf("the time limit of %s is over", safetext.Duration(w.Wall))
	case ctx.Err() != nil:
		j.all.Outcome, j.all.Reason = loop.Interrupted, "interrupted while the checks ran; the next start runs them again"
	case invalid.Is(err):
		j.all.Outcome, j.all.Reason = loop.Invalid, err.Error()
		return err
	case err != nil:
		j.all.Outcome, j.all.Reason = loop.Failed, err.Error()
		return err
	case failed == nil:
		j.all.Outcome, j.all.Reason = loop.Done, "the checks pass on all that is done"
	default:
		j.all.Outcome, j.all.Reason = loop.Failed, fmt.Sprintf(
			"%s fails on all that is done: %s; %s", failed.Check, failed.Reason, report.ConflictLine(j.all.Apart),
		)
	}
	return nil
}

// judge runs the checks on the whole, and when they fail there, on parts of it.
func (j *allJudge) judge(ctx, hard context.Context, l *engine.Journal) error {
	w := j.Run
	if err := j.Tree.PushBase(hard); err != nil {
		return err
	}
	on := " is on " + j.all.Branch
	if in, _ := j.Tree.Held(); in != "" {
		on = fmt.Sprintf(" is commit %.12s", j.all.Commit)
	}
	j.Log("all that is done, %s,%s; the checks run on it", strings.Join(j.all.Tasks, ", "), on)
	defer loop.BeginStep(hard, "the checks on all that is done", 0)()
	closeTree, err := w.OpenJudging(hard, j.all.Commit)
	defer closeTree()
	if err != nil {
		return err
	}
	s := l.State()
	j.list = check.List{
		Checks: append(w.Guardrails(s), j.promises()...), Tree: w.CheckTree(), Clock: w.Clock, Log: w.CheckLogger(),
		Stopping: func() bool { return ctx.Err() != nil }, Stopped: func() bool { return loop.Stopping(ctx) },
	}
	if j.all.Verdicts, err = j.on(hard, s, j.all.Commit); err != nil {
		return err
	}
	if err := w.Explain(hard, j.all.Verdicts); err != nil {
		return err
	}
	record := loop.Record{Type: loop.Baselined, At: w.Clock(), Baseline: j.all.Verdicts}
	if _, err := l.Append(hard, record); err != nil {
		return err
	}
	if firstFailure(j.all.Verdicts) == nil {
		return nil
	}
	return j.findApart(hard, s)
}

// promises are the commands that verified what the tasks promised.
func (j *allJudge) promises() (list []check.Check) {
	for _, w := range j.with {
		s := j.done[w.Name]
		for _, r := range task.Roles {
			if of := s.Start.Completion.For(r); of != nil && len(of.Externals()) > 0 {
				list = append(list, &check.Reverify{Task: w.Name, Verify: j.Verify(s, r)})
			}
		}
	}
	return list
}

// on runs the checks on a commit.
func (j *allJudge) on(ctx context.Context, s loop.State, commit string) ([]loop.Verdict, error) {
	tree, err := j.Tree.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	return j.list.Alone(ctx, s, loop.Commit{SHA: commit, Tree: tree})
}

// findApart finds out which tasks do not go together, by running the checks on parts of the whole.
func (j *allJudge) findApart(ctx context.Context, s loop.State) error {
	heads, err := j.heads(ctx)
	if err != nil {
		return err
	}
	if len(heads) > 1 {
		j.Log(
			"the checks fail on all that is done, and passed on each task alone: looking for those that do not go together",
		)
	}
	found, err := bisect.FindConflict(len(heads), func(some []int) (bool, error) {
		var with []git.Work
		for _, i := range some {
			with = append(with, heads[i])
		}
		j.Log("checks on %s together", names(with))
		commit, err := j.Tree.Merged(ctx, with)
		if err != nil {
			return false, err
		}
		verdicts, err := j.on(ctx, s, commit)
		return firstFailure(verdicts) != nil, err
	})
	for _, i := range found {
		j.all.Apart = append(j.all.Apart, heads[i].Name)
	}
	return err
}

// heads are the tasks whose work no other one is built on.
func (j *allJudge) heads(ctx context.Context) (heads []git.Work, err error) {
	w := j.Run
	for i, one := range j.with {
		within := false
		for k, other := range j.with {
			if k == i || other.Commit == one.Commit && k > i {
				continue
			}
			has, err := git.Contains(ctx, w.Clone, w.Parent, other.Commit, one.Commit)
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

func names(all []git.Work) string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = w.Name
	}
	return strings.Join(out, ", ")
}

// firstFailure is the first verdict that blocks, or nil.
func firstFailure(verdicts []loop.Verdict) *loop.Verdict {
	if i := slices.IndexFunc(verdicts, func(v loop.Verdict) bool { return v.Skipped == "" && v.Blocks() }); i >= 0 {
		return &verdicts[i]
	}
	return nil
}
