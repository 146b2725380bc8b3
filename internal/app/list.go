package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// List runs the tasks of a directory one after another, each on a branch of its own that begins where the last finished one ended. A task
// that fails keeps its work on a branch and blocks only those that depend on it (S0-85, S0-88).
type List struct {
	Local
	Tasks string // the directory
}

// Run takes every task to its outcome, and reports them together. The result is that of the list: done when every task is.
func (l *List) Run(ctx, hard context.Context) (ListResult, error) {
	l.sit()
	from := l.Dir
	if top, err := git.Top(ctx, l.Dir, l.Parent); err == nil {
		l.Dir = top
	}
	unlock, err := journal.Lock(l.Dir, l.log)
	if err != nil {
		return ListResult{Outcome: outcomeOf(err)}, err
	}
	defer unlock()
	l.locked = true
	dir := l.Tasks
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(from, dir)
	}
	tasks, err := tasksIn(dir)
	if err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	read, err := l.read() // for all of them: what one agent writes is not to judge the next
	if err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	l.given = &read
	if l.after, err = git.Standing(ctx, l.Dir, l.Parent); err != nil {
		return ListResult{Outcome: loop.Invalid}, &invalidError{err}
	}
	result := ListResult{Outcome: loop.Done}
	for i, t := range tasks {
		one := l.entry(ctx, hard, i+1, t, result.Entries)
		result.Entries = append(result.Entries, one)
		result.add(one)
		if ctx.Err() != nil || one.Outcome == loop.Waiting {
			break
		}
	}
	result.Left = len(tasks) - len(result.Entries)
	return result, l.report(result)
}

// ListResult is how a list of tasks ended.
type ListResult struct {
	Outcome loop.Outcome // of all of them: done, or the first other that stopped the list, or capped when tasks failed
	Entries []Entry
	Left    int // tasks that the list did not come to
}

// Entry is what came of one task of a list.
type Entry struct {
	N       int // 1-based
	Task    task.Task
	Outcome loop.Outcome
	Reason  string
	Skipped string // why it did not run; empty: it did
	State   loop.State
}

func (r *ListResult) add(e Entry) {
	switch {
	case e.Outcome == loop.Done || r.Outcome != loop.Done && r.Outcome != loop.Capped:
	case e.Outcome == loop.Interrupted || e.Outcome == loop.Waiting || e.Outcome == loop.Invalid && e.Skipped == "":
		r.Outcome = e.Outcome
	default:
		r.Outcome = loop.Capped
	}
}

// entry runs one task of the list, unless one that it depends on is not done, or it was done before and nothing about it has changed.
func (l *List) entry(ctx, hard context.Context, n int, t task.Task, before []Entry) Entry {
	e := Entry{N: n, Task: t}
	for _, d := range t.Dependencies {
		for _, b := range before {
			if b.Task.ID == d && b.Outcome != loop.Done {
				e.Outcome, e.Skipped = loop.Invalid, fmt.Sprintf("%s, which it depends on, is not done", d)
				l.log("%s is skipped: %s", t.ID, e.Skipped)
				return e
			}
		}
	}
	if state, ok := l.doneBefore(t); ok && !l.Fresh {
		e.Outcome, e.State = loop.Done, state
		e.Reason = fmt.Sprintf("done in the run %s", state.Start.Run)
		l.log("%s is %s", t.ID, e.Reason)
		l.after = state.Start.Branch
		return e
	}
	one := l.Local
	one.one = &t
	result, err := one.Run(ctx, hard)
	e.Outcome, e.Reason, e.State = result.Outcome, result.Reason, result.State
	switch {
	case err == nil:
	case ctx.Err() != nil && result.State.Start.Run == "": // whatever noticed it first
		e.Outcome, e.Reason = loop.Interrupted, "interrupted before the run began"
	default:
		e.Reason = err.Error()
		l.log("%s: %v", t.ID, err)
	}
	if e.State.End == nil { // it could not even begin
		e.State.End = &loop.End{Outcome: e.Outcome, Reason: e.Reason}
	}
	if e.Outcome == loop.Done {
		l.after = result.State.Start.Branch
	}
	return e
}

// doneBefore finds the run in which a task was done as it is asked for now.
func (l *List) doneBefore(t task.Task) (loop.State, bool) {
	state, dir, err := l.newest(t.ID)
	if err != nil || dir == "" || state.End == nil || state.End.Outcome != loop.Done {
		return state, false
	}
	return state, state.Start.Branch == "ralph/"+t.ID && sameWish(state, l.given.settings, t, l.Criteria)
}

// report writes the summary of all tasks, and says where it is.
func (l *List) report(r ListResult) error {
	var results []report.TaskResult
	for _, e := range r.Entries {
		results = append(results, report.TaskResult{N: e.N, ID: e.Task.ID, Title: e.Task.Title, View: l.view(e.State), Skipped: e.Skipped})
	}
	text := report.ExecutionSummary(results)
	for line := range strings.Lines(text) {
		l.log("%s", strings.TrimRight(line, "\n"))
	}
	file := filepath.Join(l.Dir, ".ralph", "summary.md")
	if err := writeFile(file, []byte(text)); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	l.log("report: %s", file)
	return nil
}
