package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// cloneOpening opens a run in the user's clone: a lock keeps others out, and the record is in the worktree.
type cloneOpening struct {
	*IssueRun
	from   string // the directory that files are named from
	given  given
	wanted task.Task
	before loop.State // the newest run of the task
	dir    string     // its directory; empty: there is none
	start  start
	shared []*engine.Shared // with the checks
	judges bool             // nothing but checks is run: no agent is needed
}

// Hold implements engine.Opener.
func (o *cloneOpening) Hold(ctx context.Context, work *engine.Run) (context.Context, error) {
	if o.locked || o.Worktree { // which has a lock of its own
		return ctx, nil
	}
	unlock, err := o.Lock()
	work.OnClose(unlock)
	return ctx, err
}

// Prepare implements engine.Opener: it reads the settings and the task, finds the run or starts one, and takes the
// clone for it.
func (o *cloneOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	if o.given, err = o.read(); err != nil {
		return b, err
	}
	if o.wanted, err = o.task(ctx, o.from); err != nil {
		return b, err
	}
	if err := o.holdTask(work); err != nil {
		return b, err
	}
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
	if way == loop.Nothing {
		return b, invalid.Errorf("%s", why)
	}
	if err := o.openClone(ctx, work, way); err != nil {
		return b, err
	}
	o.Log("%s: %s", way, why)
	return o.beginning(ctx, work, way)
}

// host stands in the addresses of commits that a clone's own runs make.
const host = "localhost"

// openClone opens the clone for the run, and settles what judges it there.
func (o *cloneOpening) openClone(ctx context.Context, work *engine.Run, way loop.ResumeMode) error {
	at, err := o.enter(ctx, work, way)
	if err != nil {
		return err
	}
	tree, err := o.checkout(ctx, way, at)
	var apart *git.MergeError
	switch {
	case errors.As(err, &apart):
		return fmt.Errorf(
			"%s depends on tasks that do not go together: %w; let one of them depend on the other, so that it is done on top "+
				"of that",
			o.wanted.ID, err,
		)
	case err != nil:
		return invalid.Mark(err)
	}
	work.OnClose(func() { _ = tree.Close() })
	if names := tree.Modified(); len(names) > 0 {
		o.Log(
			"%s stay as you have modified them: the run commits nothing of that, and its checks do not see it",
			safetext.FirstN(names, 5),
		)
	}
	place := engine.Place{
		Workspace: tree, Tree: tree, JudgeName: at.Dir, Scratch: at.Places().Scratch,
		Logs: filepath.Join(at.Dir, ".ralph"), AgreeToNone: o.AgreeToNone,
	}
	out := engine.Output{
		Console: o.Console(),
		Live:    o.Live, Format: o.Redacted(o.Format), Groups: o.Groups, Redact: o.Redact, Clock: o.Clock, Log: o.Log,
		Verbose: o.Explain, Shown: o.Shown,
	}
	var known []loop.Shared
	if way != loop.Begin {
		known = o.before.Start.Shared
	}
	doing, rules, err := o.goalAndRules(ctx, o.wanted, o.given.settings, place, known, out)
	if err != nil {
		return err
	}
	work.Spec = &engine.Spec{
		Work: doing, Rules: rules, Place: place, Output: out,
		Identity: engine.Identity{Parent: o.Parent, Keys: o.AgentKeys(), Host: host},
	}
	if !o.judges {
		if _, _, err := work.Agents(nil); err != nil {
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
	if o.shared, err = work.Share(ctx, known, o.Accept); err != nil {
		return err
	}
	return engine.Acceptable(o.Accept, o.shared, before)
}

// checkout takes the working tree at a place: the clone, or the run's own.
func (o *cloneOpening) checkout(ctx context.Context, way loop.ResumeMode, at *session.Session) (*git.Tree, error) {
	branch, fresh := "ralph/"+o.wanted.ID, way == loop.Begin && (o.dir != "" || o.Fresh)
	if o.Plan != "" { // what was approved stays approved: another run goes on where the plan stands
		branch, fresh = o.source.Plan.BranchName, way == loop.Begin && o.Fresh
	}
	places := at.Places()
	if err := places.Clear(); err != nil {
		return nil, err
	}
	var err error
	if o.start, err = o.startOf(ctx, way); err != nil {
		return nil, err
	}
	marks := ""
	if o.tree != nil {
		marks = session.GitDir(o.Dir)
		if o.start, err = o.startBeside(ctx, o.start); err != nil {
			return nil, err
		}
	}
	tree, err := git.Open(ctx, at.Dir, git.Options{
		With: o.start.with, Onto: o.start.onto, Came: o.start.came, Replaces: o.start.replaces, Env: o.Parent,
		Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Task: o.wanted.ID, Join: o.Plan != "",
		Own: o.source.Untracked(way != loop.Begin && !o.before.Settled()), Root: places.State,
		Scratch: places.Scratch, Fresh: fresh, Resume: way != loop.Begin, Settled: o.before.Settled(),
		Died: way != loop.Begin && o.before.End == nil, Killed: at.Killed, AllowDirty: o.AllowDirty && o.tree == nil, Log: o.Log,
		Secrets: o.Secrets(), Marks: marks, Tips: o.Tips(),
	}, branch, o.start.base)
	if err != nil {
		return nil, err
	}
	if way == loop.Begin && o.dir != "" && (fresh || o.Plan == "") {
		if err := tree.Archive(ctx); err != nil {
			o.Log("archiving old failure branches: %v", err)
		}
	}
	return tree, nil
}

// beginning says how the run begins or goes on.
func (o *cloneOpening) beginning(ctx context.Context, work *engine.Run, way loop.ResumeMode) (b engine.Beginning, err error) {
	run, owner := engine.NewRunID(o.Clock()), fmt.Sprintf("process %d", os.Getpid())
	if way != loop.Begin {
		run = filepath.Base(o.dir)
	}
	leave, err := o.Register()
	if err != nil {
		return b, err
	}
	work.OnClose(leave)
	work.OnClose(o.WriteProgress(ctx, o.RunDir(run)))
	work.Journal = &engine.Journal{Clock: o.Clock, Watch: o.watch, Redact: o.Redact, Stored: o.Stored}
	b = engine.Beginning{Mode: way, Dir: o.RunDir(run), OpenJournal: o.OpenJournal, Shared: o.shared}
	given, leftOut := engine.SharedRecord(o.shared), work.Tree.Modified()
	if way == loop.Begin {
		b.Start = work.FirstRecord(run, o.wanted)
		b.Start.Owner, b.Start.Shared, b.Start.LeftOut = owner, given, leftOut
		b.Start.Again = report.Resuming(o.Typed)
		b.Start.Accept = engine.Acceptances(o.Accept, o.shared)
		b.Start.BuiltOn, b.Start.StartedAt = o.start.works(), work.Tree.Came()
		if ground := work.Tree.Ground(); ground != b.Start.Base {
			b.Start.MergeBase = ground
		}
		return b, nil
	}
	b.Resume = &loop.Resume{Owner: owner, Retry: way == loop.Again, Accept: engine.Acceptances(o.Accept, o.shared)}
	// from here on it counts as what there was before the first turn
	if len(o.Accept) > 0 || o.before.Start.Shared == nil {
		b.Resume.Shared = given
	}
	if way == loop.Again {
		b.Resume.MaxIterations = work.Goal.Most
	}
	return b, nil
}

// goalAndRules settles what judges the run, and what "done" means for it. known is what its record says is shared, nil
// when it begins.
func (l *IssueRun) goalAndRules(
	ctx context.Context, t task.Task, set config.Settings, p engine.Place, known []loop.Shared, out engine.Output,
) (engine.Work, engine.Rules, error) {
	rules := engine.Rules{Settings: set, PlanCommands: l.source.Plan.VerifyCommands, Wall: set.Timeout()}
	var err error
	if rules.Environment, err = engine.Environment(ctx, p, set, known, l.Accept); err != nil {
		return engine.Work{}, rules, err
	}
	rules, err = engine.DetectChecks(ctx, p, rules, out.Log)
	if err != nil {
		return engine.Work{}, rules, err
	}
	if l.Plan != "" {
		return planrun.Use(l.source, p, rules, host, out)
	}
	work := engine.WorkOn(p.Tree, host)
	work.Goal, err = rules.ResolveGoal(t, l.Criteria, l.trusted(t), out.Log)
	return work, rules, err
}
