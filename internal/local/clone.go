package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
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
	begins footing
	judges bool // nothing but checks is run: no agent is needed
}

// Hold implements opener.
func (o *cloneOpening) Hold(ctx context.Context, work *engine.Run) (context.Context, error) {
	if o.locked {
		return ctx, nil
	}
	unlock, err := o.Lock()
	work.Later(unlock)
	return ctx, err
}

// Prepare implements opener: it reads the settings and the task, finds the run or begins one, and takes the clone for it.
func (o *cloneOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	if o.given, err = o.read(); err != nil {
		return b, err
	}
	if o.wanted, err = o.task(ctx, o.from); err != nil {
		return b, err
	}
	if o.before, o.dir, err = o.NewestRun(o.wanted.ID); err != nil {
		return b, err
	}
	o.bindPlan(ctx, o.wanted.ID, o.given.settings)
	if err := o.complete(o.before, o.dir != "", o.given.settings.Review); err != nil {
		return b, err
	}
	way, why, err := o.ResumeMode(o.before, o.dir != "", o.Plan != "" || engine.SameRequest(o.before, o.given.settings, o.wanted, o.Criteria))
	if err != nil {
		return b, err
	}
	if way == loop.Nothing {
		return b, invalid.Errorf("%s", why)
	}
	if err := o.takeClone(ctx, work, way); err != nil {
		return b, err
	}
	o.Log("%s: %s", way, why)
	return o.beginning(ctx, work, way)
}

// takeClone opens the clone for the run, and settles what judges it there.
func (o *cloneOpening) takeClone(ctx context.Context, work *engine.Run, way loop.Way) error {
	tree, err := o.tree(ctx, way)
	var apart *git.MergeError
	switch {
	case errors.As(err, &apart):
		return fmt.Errorf("%s depends on tasks that do not go together: %w; let one of them depend on the other, so that it is done on top of that", o.wanted.ID, err)
	case err != nil:
		return invalid.Mark(err)
	}
	work.Later(func() { _ = tree.Close() })
	if names := tree.Modified(); len(names) > 0 {
		o.Log("%s stay as you have modified them: the run commits nothing of that, and its checks do not see it", safetext.Few(names, 5))
	}
	settings := o.given.settings
	settings.Guardrails = slices.Clone(settings.Guardrails) // guard adds to them
	shop := &engine.Spec{
		Wall: settings.Timeout(), Settings: settings, Parent: o.Parent, Host: "localhost", Console: engine.Redacting{To: o.Out, Redact: o.Redact}, Clock: o.Clock, Log: o.Log, Redact: o.Redact,
		Format: o.Redacted(o.Format), Live: o.Live, Groups: o.Groups, Verbose: o.Explain,
		Logs: filepath.Join(o.Dir, ".ralph"), Keys: o.AgentKeys(), Scratch: o.Places().Scratch,
	}
	work.Spec = shop
	shop.UseTree(tree)
	shop.JudgingTree = shop.NewJudging(o.Dir)
	if err := o.aim(ctx, shop, o.wanted); err != nil {
		return err
	}
	if !o.judges {
		if _, _, err := shop.Agents(nil); err != nil {
			return err
		}
	}
	var known []loop.Shared
	if way != loop.Begin {
		known = o.before.Start.Shared
	}
	if shop.JudgingTree.Shared, err = shop.Share(ctx, known, o.Accept); err != nil {
		return err
	}
	work.Prompts = shop.WordsFrom(ctx, o.given.prompts, o.wanted.Comments)
	if shop.Plan != nil {
		work.Later(shop.Plan.Close)
	}
	return nil
}

// tree takes the clone.
func (o *cloneOpening) tree(ctx context.Context, way loop.Way) (*git.Tree, error) {
	branch, fresh := "ralph/"+o.wanted.ID, way == loop.Begin && (o.dir != "" || o.Fresh)
	if o.Plan != "" { // what was approved stays approved: another run goes on where the plan stands
		branch, fresh = o.source.Plan.BranchName, way == loop.Begin && o.Fresh
	}
	places := o.Places()
	if err := places.Clear(); err != nil {
		return nil, err
	}
	var err error
	if o.begins, err = o.footing(ctx, way); err != nil {
		return nil, err
	}
	tree, err := git.Open(ctx, o.Dir, git.Options{
		With: o.begins.with, Onto: o.begins.onto, Came: o.begins.came, Replaces: o.begins.replaces,
		Env: o.Parent, Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Task: o.wanted.ID, Join: o.Plan != "",
		Own: o.source.Untracked(way != loop.Begin && !o.before.Settled()), Root: places.State, Scratch: places.Scratch,
		Fresh: fresh, Resume: way != loop.Begin, Settled: o.before.Settled(), Died: way != loop.Begin && o.before.End == nil, Killed: o.Killed, AllowDirty: o.AllowDirty, Log: o.Log, Secrets: o.Secrets(),
	}, branch, o.begins.base)
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
func (o *cloneOpening) beginning(_ context.Context, work *engine.Run, way loop.Way) (b engine.Beginning, err error) {
	run, owner := engine.NewRun(o.Clock()), fmt.Sprintf("process %d", os.Getpid())
	if way != loop.Begin {
		run = filepath.Base(o.dir)
	}
	leave, err := o.Register()
	if err != nil {
		return b, err
	}
	work.Later(leave)
	work.Journal = &engine.Journal{Clock: o.Clock, Watch: o.watch, Redact: o.Redact, Stored: o.Stored}
	b = engine.Beginning{Mode: way, Dir: o.RunDir(run), OpenJournal: o.OpenJournal}
	given, leftOut := work.Spec.JudgingTree.Record(), work.Spec.Tree.Modified()
	if way == loop.Begin {
		b.Start = work.Spec.FirstRecord(run, o.wanted)
		b.Start.Owner, b.Start.Shared, b.Start.LeftOut = owner, given, leftOut
		b.Start.BuiltOn, b.Start.Came = o.begins.works(), work.Spec.Tree.Came()
		if ground := work.Spec.Tree.Ground(); ground != b.Start.Base {
			b.Start.Ground = ground
		}
		return b, nil
	}
	b.Resume = &loop.Resume{Owner: owner, Retry: way == loop.Again}
	if len(o.Accept) > 0 || o.before.Start.Shared == nil { // from here on it counts as what there was before the first turn
		b.Resume.Shared = given
	}
	if way == loop.Again {
		b.Resume.MaxIterations = work.Spec.Goal.Most
	}
	return b, nil
}

// aim settles what judges the run, and what "done" means for it.
func (l *IssueRun) aim(ctx context.Context, shop *engine.Spec, t task.Task) error {
	shop.PlanCommands = l.source.Plan.VerifyCommands
	if err := shop.DetectChecks(ctx, shop.Tree.Base()); err != nil {
		return err
	}
	if l.Plan != "" {
		return planrun.Use(shop, l.source)
	}
	return shop.ResolveGoal(t, l.Criteria, l.trusted(t))
}
