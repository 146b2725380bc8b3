// Package local is ralph for a person at a terminal: runs of an issue, a task, a prompt, a list of tasks, and what else
// is asked about runs in a clone.
package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// IssueRun is ralph on a laptop: the same run as in a job, in the clone at Dir, without a write to GitHub.
type IssueRun struct {
	session.Session
	Issue string // a file, or an issue's number
	Task  string // a task file, or the id of one under .ralph/tasks
	Plan  string // the directory of a plan
	// Criteria are those of the flags; nil: none.
	Criteria *task.Completion
	// Accept names what the person accepts: findings about the change, and paths, shared with the checks, whose changes
	// in the run are accepted; "all" names every one.
	Accept []string
	// AllowDirty lets the run begin in a clone whose tracked files are modified: it leaves them alone.
	AllowDirty bool
	// Worktree has the run work in a tree of its own beside the clone, which is left alone.
	Worktree bool

	tree      *ownTree       // where it works then; nil: in the clone
	listStart *start         // of a list: what the run begins from; nil: the run finds out
	locked    bool           // whoever runs a list of tasks holds the lock
	one       *task.Task     // of a list: the task
	given     *given         // of a list: what was read before its first task
	source    planrun.Source // of a plan: as it lies in the clone
}

// Run takes the issue to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs.
func (l *IssueRun) Run(ctx, hard context.Context) (loop.Result, error) {
	l.Begin()
	from := l.Dir // the issue's file is named from here; all else is at the top of the clone
	if top, err := git.Top(ctx, l.Dir, l.Parent); err == nil {
		l.Dir = top
	}
	_, work, err := engine.Open(ctx, &cloneOpening{IssueRun: l, from: from})
	defer work.Close()
	if all := new(completeError); errors.As(err, &all) {
		l.Log("%s", all.reason)
		return loop.Result{Outcome: loop.Done, Reason: all.reason, State: loop.State{Plan: &l.source.Plan}}, nil
	}
	if err != nil {
		l.leaveUnbegun(ctx)
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}

	takeHints(&l.Session, work)
	result := work.Drive(ctx, hard, work.Prompts)
	// nothing has happened that is worth keeping
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 {
		err := errors.Join(
			mistake(result), work.Tree.Retreat(ctx), work.Journal.File.Discard(),
		)
		l.leaveUnbegun(ctx)
		return result, err
	}

	late, cancel := engine.AfterStop(ctx, hard, 2*time.Minute)
	defer cancel()
	result, err = work.Conclude(late, l.View, result)
	if err != nil { // where the journal cannot be written, the reports beside it had better not be
		return result, err
	}
	l.keepRecord(late, work)
	return result, errors.Join(l.leaveClone(late, work.Tree, result), l.finish(late, work, result), l.leaveTree(late, result))
}

// leaveClone puts the clone back where it stood when the run has come to nothing: who reads and works there goes on
// with what they had. When it is done, or goes on later, the clone stays on its branch. A plan's does in any case:
// where it stands is in its file there. Between the tasks of a list the clone is back in any case.
func (l *IssueRun) leaveClone(ctx context.Context, tree *git.Tree, result loop.Result) error {
	came, stood := tree.Came(), strings.TrimPrefix(tree.Came(), "refs/heads/")
	if l.tree != nil || came == "refs/heads/"+tree.Branch() {
		return nil
	}
	nothing := result.Outcome.Limited() || result.Outcome == loop.Failed ||
		l.one != nil && result.Outcome == loop.Done
	if nothing && result.State.Plan == nil && result.State.Settled() {
		err := tree.Return(ctx)
		if err == nil && l.one == nil {
			l.Log("the clone is on %s again, as before the run", stood)
		}
		return err
	}
	if l.one == nil {
		l.Log("the clone is on %s now; %s goes back to where it was", tree.Branch(), returnCommand(came))
	}
	return nil
}

// returnCommand is the command that takes a clone to where it stood.
func returnCommand(came string) string {
	if branch, ok := strings.CutPrefix(came, "refs/heads/"); ok {
		return "git switch " + hook.Quote(branch)
	}
	return "git switch --detach " + came
}

// given is what a run takes from the directory's files, once, before the first turn of an agent.
type given struct {
	settings config.Settings
	prompts  prompt.Set
}

func (l *IssueRun) read() (given, error) {
	if l.given != nil {
		return *l.given, nil
	}
	settings, err := l.Settings()
	if err != nil {
		return given{}, err
	}
	prompts, err := engine.PromptsIn(l.Dir)
	return given{settings, prompts}, err
}

// trusted reports whether the task's text is the user's own, not one of GitHub's that a stranger can have written.
func (l *IssueRun) trusted(t task.Task) bool { return t.Issue == 0 }

// task reads what is wanted: a task file, an issue's file, or an issue by its number from GitHub.
func (l *IssueRun) task(ctx context.Context, from string) (task.Task, error) {
	switch {
	case l.one != nil:
		return *l.one, nil
	case l.Task != "":
		return taskFile(l.Dir, from, l.Task)
	case l.Plan != "":
		return l.planTask(ctx, from)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(l.Issue, "#")); err == nil && number > 0 {
		return l.FromGitHub(ctx, number)
	}
	name := l.Issue
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	content, err := os.ReadFile(name) // the user names it
	if err != nil {
		return task.Task{}, invalid.Errorf(
			"invalid --issue %q: %w; must be a file that describes the change, or an issue number", l.Issue,
			err,
		)
	}
	t, err := task.FromFile(l.Issue, string(content))
	if err != nil {
		return t, invalid.Mark(err)
	}
	return t, nil
}

// watch keeps the state file a view of the journal.
func (l *IssueRun) watch(_ context.Context, r loop.Record, s loop.State) *loop.Post {
	if r.Type == loop.Judged || r.Type == loop.Ended {
		name, text := filepath.Join(l.workDir(), engine.StateFile), report.StateFile(l.View(s))
		if err := files.Replace(name, []byte(text)); err != nil {
			l.Log("writing %s: %v", engine.StateFile, err)
		}
	}
	return nil
}

// finish writes the reports and clears up.
func (l *IssueRun) finish(ctx context.Context, work *engine.Run, result loop.Result) error {
	v := l.View(result.State)
	file, err := engine.WriteReports(l.Dir, work.Dir, work.Detail(ctx, v, work.Journal.File.Bytes()))
	if result.Outcome == loop.Done {
		_ = os.Remove(filepath.Join(l.workDir(), engine.StateFile))
	}
	l.PrintEnding(v, result)
	if names := result.State.JudgedWith(); len(names) > 0 {
		l.Log("judged with your %s, which no commit has", strings.Join(names, ", "))
	}
	if names := result.State.Start.LeftOut; len(names) > 0 {
		l.Log("not in the commits, and unseen by the checks: what you have modified in %s", safetext.FirstN(names, 5))
	}
	l.Log("report: %s", file)
	work.Notify(ctx, v, "")
	return err
}
