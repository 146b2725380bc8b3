package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// A run can work in a tree of its own beside the clone. Then the clone's files, index and HEAD are neither looked at nor
// touched: of the clone the run takes its settings, its tasks and where it stands, and gives it a branch and a record.

// ownTree is such a tree.
type ownTree struct {
	git.Linked
	new bool // nothing has run in it before
}

// workDir is where the run works.
func (l *IssueRun) workDir() string {
	if l.tree != nil {
		return l.tree.Dir
	}
	return l.Dir
}

// holdTask keeps every other run of the same task away, whatever tree it works in.
func (o *cloneOpening) holdTask(work *engine.Run) error {
	unlock, err := o.LockTask(o.wanted.ID)
	if err != nil {
		return fmt.Errorf("%s is at work already, in another working tree: %w", o.wanted.ID, err)
	}
	work.OnClose(unlock)
	return nil
}

// enter settles where the run works: in the clone, or in a tree of its own, which is made if need be. No record is
// written yet.
func (o *cloneOpening) enter(ctx context.Context, work *engine.Run, way loop.ResumeMode) (*session.Session, error) {
	tree, err := o.TreeOf(o.wanted.ID)
	if !o.Worktree {
		if err == nil && tree.Exists() {
			return nil, invalid.Errorf("the last run of %s worked in a tree of its own, %s: go on with --worktree, or remove "+
				"it with ralph clean", o.wanted.ID, tree.Dir)
		}
		return &o.Session, nil
	}
	if err != nil {
		return nil, err
	}
	branch := "ralph/" + o.wanted.ID
	if in := git.CheckedOut(ctx, o.Dir, o.Parent, branch); in != "" && in != tree.Dir {
		return nil, invalid.Errorf("the branch %s is checked out in %s, and git lets one working tree have it: switch to "+
			"another branch there, or run without --worktree", branch, in)
	}
	o.tree = &ownTree{Linked: tree, new: !tree.Exists()}
	if err := o.openTree(ctx, way); err != nil {
		return nil, err
	}
	at := o.Session
	at.Dir, at.Killed = tree.Dir, false
	unlock, err := at.Lock()
	work.OnClose(unlock)
	if err == nil {
		o.Log("the run works in a tree of its own, %s; the clone stays as it is", tree.Dir)
	}
	return &at, err
}

// openTree makes the run's tree, or takes up the one that is there. A run that begins anew has no use for what a killed
// turn has left in it, and does not throw it away either.
func (o *cloneOpening) openTree(ctx context.Context, way loop.ResumeMode) error {
	if err := o.tree.Open(ctx); err != nil {
		return invalid.Mark(err)
	}
	if o.tree.new || way != loop.Begin {
		return nil
	}
	lying, err := o.tree.Lying(ctx)
	if err != nil {
		return invalid.Mark(err)
	}
	if len(lying) > 0 {
		return invalid.Errorf("the tree of the last run, %s, has what no commit has (%s): go on with --resume, or throw it "+
			"away with git worktree remove --force %[1]s", o.tree.Dir, lying[0])
	}
	return nil
}

// startBeside is what a run in a tree of its own begins from: where the clone stands, unless something else is known.
func (o *cloneOpening) startBeside(ctx context.Context, f start) (start, error) {
	var err error
	if f.came = ""; f.base == "" {
		if f.base, err = git.Standing(ctx, o.Dir, o.Parent); err != nil {
			err = invalid.Mark(err)
		}
	}
	return f, err
}

// leaveTree removes the run's tree once the run is over: what it has done is in commits. What its checks printed moves
// to the run's directory. A run that is to go on keeps its tree.
func (l *IssueRun) leaveTree(ctx context.Context, result loop.Result) error {
	if l.tree == nil {
		return nil
	}
	if result.Outcome == loop.Interrupted || result.Outcome == loop.Waiting {
		l.Log("the run is to go on in its tree %s", l.tree.Dir)
		return nil
	}
	if err := keepLogs(l.tree.Dir, l.RunDir(result.State.Start.Run)); err != nil {
		return fmt.Errorf("keeping the logs of %s: %w", l.tree.Dir, err)
	}
	l.removeTree(ctx)
	return nil
}

// leaveUnbegun removes a tree that was made for a run which did not begin.
func (l *IssueRun) leaveUnbegun(ctx context.Context) {
	if l.tree != nil && l.tree.new {
		l.removeTree(context.WithoutCancel(ctx))
	}
}

// removeTree removes the run's tree with the places that were kept for it.
func (l *IssueRun) removeTree(ctx context.Context) {
	if err := removeOwnTree(ctx, &l.Session, l.tree.Linked); err != nil {
		l.Log("warning: %v", err)
	}
}

func removeOwnTree(ctx context.Context, s *session.Session, tree git.Linked) error {
	in := *s
	in.Dir = tree.Dir
	places := in.Places() // as long as it is there
	if tree.Exists() {
		_ = os.Remove(filepath.Join(tree.Dir, engine.StateFile)) // a view of the record
	}
	if err := tree.Remove(ctx); err != nil {
		return err
	}
	for _, dir := range []string{places.Scratch, places.State} {
		if err := files.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing %s: %w", dir, err)
		}
	}
	_ = os.Remove(filepath.Dir(tree.Dir)) // unless others are there
	return nil
}

// maxKeptLog is what one output of a check may have at most, with room for the sentence in its middle.
const maxKeptLog = 130 << 20

// keepLogs copies what agents and checks were told and printed from a tree that is removed to the run's directory.
func keepLogs(tree, dir string) error {
	from, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, pattern := range []string{"guardrail_*.log", "verify_*.log", "prompt_*.txt"} {
		names, _ := fs.Glob(from.FS(), ".ralph/"+pattern) // the pattern is well formed
		for _, name := range names {
			if info, err := from.Lstat(name); err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, ok, err := files.ReadIfThere(from, name, maxKeptLog)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := files.Write(to, filepath.Base(name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// Lane is what shows one of several tasks that run at once.
type Lane struct {
	Watch session.Watch
	Live  io.Writer // takes what is counted down; nil: nobody shows that
	Over  func()    // the task has ended
}

// lane is where one of several tasks runs: all that it prints begins with its name, line by line.
type lane struct {
	one       *IssueRun
	ctx, hard context.Context
	over      func()
}

func (l *List) lane(ctx, hard context.Context, t task.Task) lane {
	one := l.IssueRun
	if l.Parallel <= 1 {
		return lane{&one, ctx, hard, func() {}}
	}
	steps := loop.StepsOf(ctx).Child(t.ID)
	shown := Lane{Over: func() {}}
	if l.Lanes != nil {
		shown = l.Lanes(t, steps)
	}
	lines := &named{name: t.ID, to: safetext.Coloured(l.Out)}
	one.Out, one.Live, one.Watch, one.Groups = safetext.NewConsole(lines), shown.Live, shown.Watch, nil
	if ask := l.Ask; ask != nil {
		one.Ask = func(question string) (string, error) {
			l.asking.Lock()
			defer l.asking.Unlock()
			return ask(question)
		}
	}
	if steps != nil {
		ctx, hard = loop.WithStepTracker(ctx, steps), loop.WithStepTracker(hard, steps)
	}
	return lane{&one, ctx, hard, func() {
		lines.end()
		shown.Over()
	}}
}

// named writes whole lines, each behind a name. It is safe for concurrent use.
type named struct {
	name string
	to   io.Writer

	mu   sync.Mutex
	part []byte // a line that has not ended
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.part = append(n.part, p...)
	end := bytes.LastIndexByte(n.part, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	whole := n.part[:end]
	n.part = append([]byte(nil), n.part[end:]...)
	return len(p), n.put(whole)
}

func (n *named) put(lines []byte) error {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		out.WriteString(n.name + " | ")
		out.Write(line)
	}
	_, err := n.to.Write(out.Bytes())
	return err
}

// end writes the last line, when nobody has ended it.
func (n *named) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.part) > 0 {
		_ = n.put(append(n.part, '\n')) // what cannot be shown is in the logs
		n.part = nil
	}
}
