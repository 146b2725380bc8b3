package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// A task begins from its base and the done work of what it depends on. Work of other tasks is not in it, done or not,
// whatever the clone stands on.

// startHere is the base of a run or a list that begins on a branch. Where the clone is on the branch of another
// run, it is what that run began from: who looks at the work of one task may ask for the next.
func (l *IssueRun) startHere(ctx context.Context, branch string, fresh bool) (f start, err error) {
	at := l.stands
	id := taskOf(at)
	if id == "" {
		return f, nil
	}
	state, _, err := l.NewestRun(id)
	s := state.Start
	if err != nil || s.Run == "" || s.Branch != at && at == "ralph/"+id { // no run has made it
		return f, err
	}
	was := start{base: cmp.Or(s.MergeBase, s.Base), onto: s.BaseBranch}
	switch {
	case at == branch && fresh && was.onto != "" && git.TipOf(ctx, l.Dir, l.Parent, was.onto, "") != "":
		return start{base: was.onto}, nil
	case at == branch:
		return was, nil
	}
	where := fmt.Sprintf("%.12s", was.base)
	if was.onto != "" {
		where += " of " + was.onto
	}
	l.Log(
		"the clone is on %s, which is the work of another run: this one starts where that did, at %s", at, where,
	)
	return was, nil
}

// The names of branches that runs make, with the task in the middle.
var runBranches = []*regex.Pattern{
	regex.Lazy(`^wip/(?:archive/)?ralph-fail-(.+)-\d{8}-\d{6}$`),
	regex.Lazy(`^wip/archive/ralph/(.+)-[0-9a-f]{8}$`),
	regex.Lazy(`^ralph/(.+)$`),
}

// taskOf is the task whose run makes a branch of this name; empty: no run does.
func taskOf(branch string) string {
	for _, r := range runBranches {
		if m := r.FindStringSubmatch(branch); m != nil {
			return m[1]
		}
	}
	return ""
}

// needed is the work of everything that a task depends on, what comes first before what is built on it. What is not
// done is refused by its name.
func (l *IssueRun) needed(ctx context.Context, t task.Task, known map[string]task.Task) ([]git.Work, error) {
	n := needs{IssueRun: l, known: known, done: map[string]*git.Work{}}
	for _, id := range t.Dependencies {
		if _, err := n.visit(ctx, id, t.ID); err != nil {
			return nil, err
		}
	}
	return n.works, nil
}

// needs collects the work that a task needs.
type needs struct {
	*IssueRun
	known map[string]task.Task
	done  map[string]*git.Work // nil: it is being looked at
	works []git.Work
}

// visit adds the work of a task that another one depends on, and before it what that is built on.
func (n *needs) visit(ctx context.Context, id, of string) (*git.Work, error) {
	if w, ok := n.done[id]; ok {
		if w == nil {
			return nil, invalid.Errorf("%s and %s wait for each other; take one of these dependencies out", of, id)
		}
		return w, nil
	}
	n.done[id] = nil
	w, before, err := n.look(ctx, id, of)
	if err != nil {
		return nil, err
	}
	for _, b := range before {
		on, err := n.visit(ctx, b, id)
		if err != nil {
			return nil, err
		}
		if has, err := git.Contains(ctx, n.Dir, n.Parent, w.Commit, on.Commit); err != nil {
			return nil, err
		} else if !has {
			return nil, invalid.Errorf(
				"%s depends on %s, which does not have the newest work of %s: run %s again first", of, id, b, id,
			)
		}
	}
	n.done[id], n.works = &w, append(n.works, w)
	return &w, nil
}

// look finds the done work of a task, and the tasks that it depends on itself.
func (n *needs) look(ctx context.Context, id, of string) (w git.Work, before []string, err error) {
	in := n.Session
	in.Fresh = false // --fresh is for the task itself, not for what it needs
	state, dir, err := in.NewestRun(id)
	if err != nil {
		return w, nil, err
	}
	k, defined := n.known[id]
	switch lacks := undone(state, dir != ""); {
	case lacks != "":
		return w, nil, invalid.Errorf("%s depends on %s, which is not done: %s", of, id, lacks)
	case defined && (k.Title != state.Start.Title || k.Spec != state.Start.Spec):
		return w, nil, invalid.Errorf(
			"%s depends on %s, whose text was changed after it was done: run %s again first", of, id, id,
		)
	}
	w = git.Work{Name: id, Commit: state.Head()}
	if there, err := git.Contains(ctx, n.Dir, n.Parent, w.Commit, w.Commit); err != nil {
		return w, nil, err
	} else if !there {
		return w, nil, invalid.Errorf(
			"%s depends on %s, whose work (commit %.12s) is no longer in this clone: run %s again first, or remove it from the dependencies where the base has its work",
			of, id, w.Commit, id,
		)
	}
	if defined {
		return w, k.Dependencies, nil
	}
	return w, safetext.Map(state.Start.BuiltOn, func(b loop.Work) string { return b.Task }), nil
}

// undone says what a task's newest run lacks to be done; empty: nothing.
func undone(s loop.State, known bool) string {
	switch {
	case !known:
		return "it has not been run here"
	case s.End == nil:
		return fmt.Sprintf("its run %s did not finish; run it again to resume it", s.Start.Run)
	case s.End.Outcome != loop.Done:
		return fmt.Sprintf("its run %s ended %s", s.Start.Run, cmp.Or(s.End.Outcome, loop.Failed))
	}
	return ""
}

// Conflicts are the files in which work conflicts that a run was to begin from; nil when that is not what an error
// says.
func Conflicts(err error) []string {
	if apart, ok := errors.AsType[*git.MergeError](err); ok {
		return apart.Files
	}
	return nil
}
