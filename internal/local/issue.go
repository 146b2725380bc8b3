// Package local is ralph for a person at a terminal: runs of an issue, a task, a prompt, a list of tasks, and what else
// is asked about runs in a clone.
package local

import (
	"cmp"
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
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
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
	Answer string // to the question that the run waits with; empty: none

	listStart *start         // of a list: what the run begins from; nil: the run finds out
	stands    string         // the branch that the clone is on; a commit where it is on none
	one       *task.Task     // of a list: the task
	given     *given         // of a list: what was read before its first task
	source    planrun.Source // of a plan: as it is in the clone
}

// Run takes the issue to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs.
func (l *IssueRun) Run(ctx, hard context.Context) (loop.Result, error) {
	l.Begin()
	from := l.Dir // the issue's file is named from here; all else is at the top of the clone
	if top, at, err := git.Stand(ctx, l.Dir, l.Parent); err == nil {
		l.Dir, l.stands = top, at
	}
	o := &cloneOpening{IssueRun: l, from: from}
	_, work, err := engine.Open(ctx, o)
	defer work.Close()
	if all := new(completeError); errors.As(err, &all) {
		l.Log("%s", all.reason)
		o.made = true // by a process that was killed when all was done but to remove it
		o.leaveUnbegun(ctx)
		return loop.Result{Outcome: loop.Done, Reason: all.reason, State: loop.State{Plan: &l.source.Plan}}, nil
	}
	if err != nil {
		o.leaveUnbegun(ctx)
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}

	takeHints(&l.Session, work)
	result := work.Drive(ctx, hard, work.Prompts)
	// nothing has happened that is worth keeping
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 {
		err := errors.Join(mistake(result), work.Journal.File.Discard())
		o.leaveUnbegun(ctx)
		return result, err
	}

	late, cancel := engine.AfterStop(ctx, hard, 2*time.Minute)
	defer cancel()
	result, err = work.Conclude(late, l.View, result)
	if err != nil { // where the journal cannot be written, the reports beside it had better not be
		return result, err
	}
	l.keepRecord(late, work)
	return result, errors.Join(o.finish(late, work, result), o.leave(late, result))
}

// leave removes the checkout once the run is over: what it has done is in commits. A run that is to continue keeps it, one
// that could not commit its last turn, and one that was refused for what it did to what is in no commit.
func (o *cloneOpening) leave(ctx context.Context, result loop.Result) error {
	if result.Outcome == loop.Interrupted || result.Outcome == loop.Waiting ||
		result.Outcome != loop.Done && (engine.SharedRefused(result.State) || !result.State.Settled()) {
		o.Log("what the last turn left is kept; ralph status --path says where")
		return nil
	}
	return errors.Join(o.tree.Remove(ctx), o.at.Remove())
}

// leaveUnbegun removes what was made for a run which did not begin.
func (o *cloneOpening) leaveUnbegun(ctx context.Context) {
	if o.at.Scratch == "" { // it has no lock
		return
	}
	var err error
	switch {
	case !o.made:
	case o.tree != nil:
		err = o.tree.Remove(context.WithoutCancel(ctx))
	default:
		err = git.RemoveCheckout(o.at.Root)
	}
	if err = errors.Join(err, o.at.Remove()); err != nil {
		o.Log("warning: %v", err)
	}
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

// task reads what is needed: a task file, an issue's file, or an issue by its number from GitHub.
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
func (l *cloneOpening) watch(_ context.Context, r loop.Record, s loop.State) *loop.Post {
	if r.Type == loop.Judged || r.Type == loop.Ended {
		name, text := filepath.Join(l.RunDir(s.Start.Run), engine.StateFile), report.StateFile(l.View(s))
		if err := files.Replace(name, []byte(text)); err != nil {
			l.Log("writing %s: %v", engine.StateFile, err)
		}
		if work, err := os.OpenRoot(l.tree.Dir()); err == nil {
			_ = work.Symlink(name, engine.StateFile) // for the agent; it may be there
			_ = work.Close()
		}
	}
	return nil
}

// finish writes the reports and clears up.
func (l *cloneOpening) finish(ctx context.Context, work *engine.Run, result loop.Result) error {
	v := l.View(result.State)
	file, err := engine.WriteReports(l.Dir, work.Dir, work.Detail(ctx, v, work.Journal.File.Bytes()))
	if result.Outcome == loop.Done {
		_ = os.Remove(filepath.Join(work.Dir, engine.StateFile))
	}
	l.PrintEnding(v, result)
	if names := result.State.JudgedWith(); len(names) > 0 {
		l.Log("judged with your %s, which no commit has", strings.Join(names, ", "))
	}
	if names := result.State.Start.LeftOut; len(names) > 0 {
		l.Log("not in the commits, and unseen by the checks: what you have modified in %s", safetext.FirstN(names, 5))
	}
	l.tellEnd(ctx, work.Tree)
	l.Log("report: %s", file)
	work.Notify(ctx, v, "")
	return err
}

// tellEnd says where the work is, and what is in the way of taking it.
func (l *cloneOpening) tellEnd(ctx context.Context, tree *git.Tree) {
	if !l.tellHeld(tree) && tree.Resumed() {
		base := cmp.Or(tree.BaseBranch(), tree.Base()[:12])
		l.Log("your checkout is as you left it; the work is on %s: git diff %s...%[1]s shows it, git merge %[1]s takes it",
			tree.Branch(), base)
	}
	in, _ := tree.Held()
	names, err := git.InTheWay(ctx, cmp.Or(in, l.Dir), l.Parent, tree.Head())
	if err == nil && len(names) > 0 {
		l.Log("git does not overwrite what you have not committed in %s: git stash push -u -- %s moves it out of the way",
			safetext.FirstN(names, 5), strings.Join(safetext.Map(names[:min(len(names), 5)], wording.ShellWord), " "))
	}
}

// tellHeld says where the work is when the branch was not moved.
func (l *IssueRun) tellHeld(tree *git.Tree) bool {
	in, command := tree.Held()
	if in != "" {
		l.Log("%s is checked out in %s, so it is not moved under you: %s takes the new work", tree.Branch(), in, command)
	}
	return in != ""
}
