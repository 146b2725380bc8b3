// Package local is ralph for a person at a terminal: runs of an issue, a task, a prompt, a list of tasks, and the
// commands that look at, steer and remove runs of a clone.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

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
	if all, ok := errors.AsType[*completeError](err); ok {
		l.Log("%s", all.reason)
		o.made = true // by a process that was killed when all was done but to remove it
		o.leaveUnbegun(ctx)
		return loop.Result{Outcome: loop.Done, Reason: all.reason, State: loop.State{Plan: &l.source.Plan}}, nil
	}
	if err != nil {
		o.leaveUnbegun(ctx)
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}
	result, err := play(ctx, hard, &l.Session, work, work.Prompts, o.finish)
	if untouched(result) {
		o.leaveUnbegun(ctx)
	}
	return result, err
}

// outcomeOf is the outcome of a run that could not begin.
func outcomeOf(err error) loop.Outcome {
	_, held := errors.AsType[*journal.HeldError](err)
	if _, apart := errors.AsType[*git.MergeError](err); held || apart {
		return loop.Failed
	}
	return loop.Invalid
}

// untouched reports whether nothing has happened in a run that is worth keeping.
func untouched(r loop.Result) bool {
	return r.Outcome == loop.Invalid && len(r.State.Iterations) == 0
}

// play takes an opened run to its outcome, writes the reports and says how it ended. finish has the last word, and
// clears up.
func play(ctx, hard context.Context, s *session.Session, work *engine.Run, words engine.Prompts,
	finish func(ctx context.Context, work *engine.Run, result loop.Result, report string) error) (loop.Result, error) {
	takeHints(s, work)
	result := work.Drive(ctx, hard, words)
	if untouched(result) {
		err := cmp.Or(result.Mistake, errors.New(result.Reason))
		return result, errors.Join(invalid.Mark(err), work.Journal.File.Discard())
	}
	late, cancel := engine.AfterStop(ctx, hard, 2*time.Minute)
	defer cancel()
	result, err := work.Conclude(late, s.View, result)
	if err != nil { // where the journal cannot be written, the reports beside it had better not be
		return result, err
	}
	v := s.View(result.State)
	file, err := engine.WriteReports(s.Dir, work.Dir, work.Detail(late, v, work.Journal.File.Bytes()))
	s.PrintEnding(v, result)
	err = errors.Join(err, finish(late, work, result, file))
	work.Notify(late, v, "")
	return result, err
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

// finish says what people need to know of the run's work, and clears up.
func (l *cloneOpening) finish(ctx context.Context, work *engine.Run, result loop.Result, report string) error {
	l.keepRecord(ctx, work)
	if result.Outcome == loop.Done {
		_ = os.Remove(filepath.Join(work.Dir, engine.StateFile))
	}
	if names := result.State.JudgedWith(); len(names) > 0 {
		l.Log("judged with your %s, which no commit has", strings.Join(names, ", "))
	}
	if names := result.State.Start.LeftOut; len(names) > 0 {
		l.Log("not in the commits, and unseen by the checks: what you have modified in %s", safetext.FirstN(names, 5))
	}
	l.tellEnd(ctx, work.Tree)
	l.Log("report: %s", report)
	return l.leave(ctx, result)
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

// keepRecord keeps the run's record as a ref of the clone, and says how to share it: with it, other clones do not
// repeat the reviews.
func (l *IssueRun) keepRecord(ctx context.Context, work *engine.Run) {
	if l.Plan == "" {
		return
	}
	s := work.Journal.State()
	message := fmt.Sprintf("ralph: %s, run %s, record %d", s.Start.Task, s.Start.Run, s.Records)
	ref, err := work.Tree.KeepRecord(ctx, map[string][]byte{journal.File: work.Journal.File.Bytes()}, message)
	if err != nil {
		l.Log("the run's record is in this directory alone: %v", err)
		return
	}
	if url, err := git.RemoteURL(ctx, l.Dir, l.Parent); err == nil && url != "" {
		l.Log("to share the work and its reviews: git push origin %s %s", s.Start.Branch, ref)
	}
}
