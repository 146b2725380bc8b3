package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// cloneOpening opens a run beside the user's clone: the task's lock keeps others out, and the record is in the clone.
type cloneOpening struct {
	*IssueRun
	from             string // the directory that files are named from
	given            given
	wanted           task.Task
	before           loop.State // the newest run of the task
	dir              string     // its directory; empty without one
	at               session.Checkout
	tree             *git.Tree // there
	made             bool      // nothing has run in it before
	run              string    // the name of the run
	leftOut, ignored []string  // what the clone's user has modified, and what is ignored there
	start            start
	shared           []*engine.Shared // with the checks
	judges           bool             // nothing but checks is run: no agent is needed
}

// Hold implements engine.Opener. Who runs the task is known once it is read; Prepare takes its lock.
func (o *cloneOpening) Hold(ctx context.Context, _ *engine.Run) (context.Context, error) {
	return ctx, o.RefuseCheckout()
}

// Prepare implements engine.Opener: it reads the settings and the task, finds the run or starts one, and makes its
// checkout.
func (o *cloneOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	if o.given, err = o.read(); err != nil {
		return b, err
	}
	if o.wanted, err = o.task(ctx, o.from); err != nil {
		return b, err
	}
	at, unlock, err := o.LockTask(o.wanted.ID) // keeps every other run of the task away
	work.OnClose(unlock)
	if err != nil {
		return b, err
	}
	o.at = at
	if o.before, o.dir, err = o.NewestRun(o.wanted.ID); err != nil {
		return b, err
	}
	o.bindPlan(ctx, o.wanted.ID, o.given.settings)
	if err := o.complete(o.before, o.dir != "", o.given.settings.Review); err != nil {
		return b, err
	}
	way, why, err := o.ResumeMode(
		o.before, o.dir != "", o.Plan != "" || engine.SameRequest(o.before, o.given.settings, o.wanted, o.Criteria),
	)
	if err != nil {
		return b, err
	}
	if way != loop.Begin && o.rewritten(ctx) {
		way, why = loop.Begin, "the run has no commit yet, and its base was rewritten"
	}
	if err := o.openClone(ctx, work, way); err != nil {
		return b, err
	}
	o.Log("%s: %s", way, why)
	return o.beginning(ctx, work, way)
}

// openClone opens the clone for the run, and settles what judges it there.
func (o *cloneOpening) openClone(ctx context.Context, work *engine.Run, way loop.ResumeMode) error {
	tree, err := o.checkOut(ctx, way)
	switch _, apart := errors.AsType[*git.MergeError](err); {
	case apart:
		return fmt.Errorf(
			"%s depends on tasks that do not go together: %w; let one of them depend on the other, so that it is done on top "+
				"of that",
			o.wanted.ID, err,
		)
	case err != nil:
		return invalid.Mark(err)
	}
	if o.run = engine.NewRunID(o.Clock()); way != loop.Begin {
		o.run = filepath.Base(o.dir)
	}
	place := engine.Place{
		Workspace: tree, Tree: tree, Clone: o.Dir, Ignored: o.ignored, JudgeName: o.Dir, Scratch: o.at.Scratch, Caches: o.at.Caches,
		Logs: o.RunDir(o.run), AgreeToNone: o.AgreeToNone,
	}
	redact := o.Redact
	o.Redact = func(text string) string { return place.ForPeople(redact(text)) } // only for people
	out := o.Output()
	out.Redact = redact
	var known []loop.Shared
	if way != loop.Begin {
		known = o.before.Start.Shared
	}
	if work.Spec, err = o.spec(ctx, o.wanted, o.given.settings, place, known, out); err != nil {
		return err
	}
	if !o.judges {
		if _, _, err := work.Agents(); err != nil {
			return err
		}
	}
	if err := o.accept(ctx, work, way); err != nil {
		return err
	}
	work.Prompts = work.Prompt(ctx, o.given.prompts, o.wanted.Comments)
	if work.Plan != nil {
		work.OnClose(work.Plan.Close)
	}
	return nil
}

// accept finds what the checks share with the clone, and holds against that and the run's findings what the person
// accepts.
func (o *cloneOpening) accept(ctx context.Context, work *engine.Run, way loop.ResumeMode) (err error) {
	var before *loop.State
	var known []loop.Shared
	if way != loop.Begin {
		before, known = &o.before, o.before.Start.Shared
	}
	if o.shared, err = work.FindShared(ctx, known, o.Accept); err != nil {
		return err
	}
	if err := engine.Acceptable(o.Accept, o.shared, before); err != nil {
		return err
	}
	return work.Share(o.shared, known, o.Accept, way == loop.Begin || before.Settled())
}

// rewritten reports whether the run has no commit, and its base branch no longer has the commit that it started from.
func (o *cloneOpening) rewritten(ctx context.Context) bool {
	s := o.before.Start
	now := git.TipOf(ctx, o.Dir, o.Parent, s.BaseBranch, "")
	if o.before.Tip != "" || now == "" {
		return false
	}
	has, err := git.Contains(ctx, o.Dir, o.Parent, now, cmp.Or(s.MergeBase, s.Base))
	return err == nil && !has
}

// checkOut makes the run's checkout, or opens the existing one.
func (o *cloneOpening) checkOut(ctx context.Context, way loop.ResumeMode) (tree *git.Tree, err error) {
	branch, lost := "ralph/"+o.wanted.ID, o.before.Start.Run == "" && o.LostRun(o.wanted.ID)
	fresh := way == loop.Begin && (o.dir != "" || o.Fresh || lost)
	ours := o.before.Start.Branch == branch || lost
	if o.Plan != "" { // what was approved stays approved: another run continues where the plan stands
		branch, fresh, ours = o.source.Plan.BranchName, way == loop.Begin && o.Fresh, true
	}
	if o.start, err = o.startOf(ctx, way); err != nil {
		return nil, err
	}
	if o.before.Tip == "" {
		o.start.replaces = append(slices.Clip(o.start.replaces), o.before.Start.Base)
	}
	o.made = !o.at.Exists()
	tree, err = git.CheckoutOf(ctx, o.Dir, git.Options{
		With: o.start.with, Onto: o.start.onto, Env: o.Parent, Task: o.wanted.ID, Root: o.at.Root, Scratch: o.at.Scratch,
		Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Fresh: fresh, Log: o.Log, Secrets: o.Secrets(),
		Earlier: git.Earlier{Resume: way != loop.Begin, Unsettled: way != loop.Begin && !o.before.Settled(), Ours: ours,
			Killed: o.Killed, Replaces: o.start.replaces},
	}, o.start.base, branch)
	if err != nil {
		return nil, err
	}
	o.tree = tree
	if way == loop.Begin && o.dir != "" && (fresh || o.Plan == "") {
		if err := tree.Archive(ctx); err != nil {
			o.Log("archiving old failure branches: %v", err)
		}
	}
	return tree, o.tellBegin(ctx)
}

// tellBegin says where the run works, and which changes of the clone are not in it.
func (o *cloneOpening) tellBegin(ctx context.Context) error {
	o.Log("works in a checkout of its own; your files, branch and index stay as they are")
	names, ignored, err := git.Lying(ctx, o.Dir, o.Parent)
	if err != nil {
		return err
	}
	o.ignored = ignored
	if o.leftOut = o.source.Without(names); len(o.leftOut) > 0 {
		o.Log("not in the run: what you have not committed in %s (%s)", safetext.FirstN(o.leftOut, 5),
			safetext.Counted(len(o.leftOut), "file", "files"))
	}
	return nil
}

// beginning says how the run begins or continues.
func (o *cloneOpening) beginning(ctx context.Context, work *engine.Run, way loop.ResumeMode) (b engine.Beginning, err error) {
	run, owner := o.run, fmt.Sprintf("process %d", os.Getpid())
	if work.Journal, err = o.Record(ctx, work, run); err != nil {
		return b, err
	}
	work.Journal.Watch, work.Journal.Redact = o.watch, work.Redact
	b = engine.Beginning{Mode: way, Dir: o.RunDir(run), OpenJournal: o.OpenJournal, Shared: o.shared}
	given := engine.SharedRecord(o.shared)
	if way == loop.Begin {
		b.Start = work.FirstRecord(run, o.wanted)
		b.Start.Owner, b.Start.Shared, b.Start.LeftOut = owner, given, o.leftOut
		b.Start.Again = report.Resuming(o.Typed)
		b.Start.Hint = o.Answer
		b.Start.Accept = engine.Acceptances(o.Accept, o.shared)
		b.Start.BuiltOn = o.start.works()
		if ground := work.Tree.Ground(); ground != b.Start.Base {
			b.Start.MergeBase = ground
		}
		return b, nil
	}
	b.Resume = &loop.Resume{Owner: owner, Retry: way == loop.Again, Hint: o.Answer,
		Accept: engine.Acceptances(o.Accept, o.shared)}
	// from here on it counts as what there was before the first turn
	if len(o.Accept) > 0 || o.before.Start.Shared == nil {
		b.Resume.Shared = given
	}
	if way == loop.Again {
		b.Resume.MaxIterations = work.Goal.Most
	}
	return b, nil
}

// startOf settles what the run begins from.
func (o *cloneOpening) startOf(ctx context.Context, way loop.ResumeMode) (f start, err error) {
	switch {
	case o.Plan != "":
		return f, nil
	case way != loop.Begin:
		return start{base: o.before.Start.Base, onto: o.before.Start.BaseBranch}, nil
	case o.listStart != nil:
		f = *o.listStart
	default:
		f, err = o.startHere(ctx, "ralph/"+o.wanted.ID, o.dir != "" || o.Fresh)
	}
	if err == nil {
		f.with, err = o.needed(ctx, o.wanted, o.definitions())
	}
	return f, err
}

// definitions are the tasks that lie beside the one that is run, by their ids: those that the clone keeps, and those of
// the same directory.
func (o *cloneOpening) definitions() map[string]task.Task {
	if o.listed != nil || o.Task == "" {
		return o.listed
	}
	known := map[string]task.Task{}
	dirs := []string{filepath.Join(o.Dir, tasksDir)}
	if strings.ContainsAny(o.Task, `/\`) || isTaskFile(o.Task) {
		dirs = append(dirs, filepath.Dir(session.From(o.from, o.Task)))
	}
	for _, dir := range dirs {
		all, _ := readTasks(dir, dir) // one that cannot be read is reported when it is run
		for _, k := range all {
			known[k.ID] = k.Task
		}
	}
	return known
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
