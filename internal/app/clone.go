package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// cloneOpening opens a run in the user's clone: a lock keeps others out, and the record is in the worktree.
type cloneOpening struct {
	*Local
	from   string // the directory that files are named from
	given  given
	wanted task.Task
	before loop.State // the newest run of the task
	dir    string     // its directory; empty: there is none
	begins footing
	judges bool // nothing but checks is run: no agent is needed
}

// keepOut implements opener.
func (o *cloneOpening) keepOut(ctx context.Context, work *opened) (context.Context, error) {
	if o.locked {
		return ctx, nil
	}
	unlock, err := o.lock()
	work.later(unlock)
	return ctx, err
}

// lock takes the directory for this process, until unlock is called. unlock is never nil.
func (s *Seat) lock() (unlock func(), err error) {
	left, _ := journal.Held(s.Dir) // what is in the way of an answer is in the way of the lock
	unlock, err = journal.Lock(s.Dir, s.log)
	if err != nil {
		return func() {}, err
	}
	s.killed = left.PID != 0 // whoever ends otherwise gives its lock back
	s.clear()
	return unlock, nil
}

// clear removes what processes that were killed have left, once nobody else is in the directory.
func (s *Seat) clear() {
	proc.ClearTemp("")
	scratch := s.places().scratch
	if ended := proc.EndLeft(s.Dir, scratch); ended > 0 {
		s.log("%s ended that an earlier ralph had left when it was killed", counted(ended, "process is", "processes are"))
	}
	_ = files.RemoveAll(scratch) // what cannot be removed is told by whoever needs the place
	_ = os.Remove(filepath.Join(s.Dir, activeFile))
	removeHalves(s.Dir)
}

// removeHalves removes the files that a killed process was about to put in the place of others. No link leads it out of the directory.
func removeHalves(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	halves, _ := fs.Glob(root.FS(), ".ralph/runs/*/*"+files.NewSuffix) // the pattern is sound
	for _, name := range append(halves, activeFile+files.NewSuffix, stateFile+files.NewSuffix) {
		_ = root.Remove(name)
	}
}

// settle implements opener: it reads the settings and the task, finds the run or begins one, and takes the clone for it.
func (o *cloneOpening) settle(ctx context.Context, work *opened) (b beginning, err error) {
	if o.given, err = o.read(); err != nil {
		return b, err
	}
	if o.wanted, err = o.task(ctx, o.from); err != nil {
		return b, err
	}
	if o.before, o.dir, err = o.newest(o.wanted.ID); err != nil {
		return b, err
	}
	o.bindPlan(ctx, o.wanted.ID, o.given.settings)
	if err := o.complete(o.before, o.dir != "", o.given.settings.Review); err != nil {
		return b, err
	}
	way, why, err := o.takeUp(o.before, o.dir != "", o.Plan != "" || sameWish(o.before, o.given.settings, o.wanted, o.Criteria))
	if err != nil {
		return b, err
	}
	if way == loop.Nothing {
		return b, invalid.Errorf("%s", why)
	}
	if err := o.takeClone(ctx, work, way); err != nil {
		return b, err
	}
	o.log("%s: %s", way, why)
	return o.beginning(ctx, work, way)
}

// takeClone opens the clone for the run, and settles what judges it there.
func (o *cloneOpening) takeClone(ctx context.Context, work *opened, way loop.Way) error {
	tree, err := o.tree(ctx, way)
	var apart *git.MergeError
	switch {
	case errors.As(err, &apart):
		return fmt.Errorf("%s depends on tasks that do not go together: %w; let one of them depend on the other, so that it is done on top of that", o.wanted.ID, err)
	case err != nil:
		return invalid.Mark(err)
	}
	work.later(func() { _ = tree.Close() })
	if names := tree.Modified(); len(names) > 0 {
		o.log("%s stay as you have modified them: the run commits nothing of that, and its checks do not see it", report.Few(names))
	}
	settings := o.given.settings
	settings.Guardrails = slices.Clone(settings.Guardrails) // guard adds to them
	shop := &workshop{
		wall: settings.Timeout(), settings: settings, parent: o.Parent, host: "localhost", console: redacting{o.Out, o.redact}, clock: o.Clock, log: o.log, redact: o.redact,
		format: o.safe(o.Format), live: o.Live, groups: o.Groups, verbose: o.verbose,
		logs: filepath.Join(o.Dir, ".ralph"), keys: o.keys(), scratch: o.places().scratch,
	}
	work.shop = shop
	shop.ground(tree)
	shop.judge = shop.newJudging(o.Dir)
	if err := o.aim(ctx, shop, o.wanted); err != nil {
		return err
	}
	if !o.judges {
		if _, _, err := shop.agents(nil); err != nil {
			return err
		}
	}
	var known []loop.Shared
	if way != loop.Begin {
		known = o.before.Start.Shared
	}
	if shop.judge.shared, err = shop.share(ctx, known, o.Accept); err != nil {
		return err
	}
	work.words = shop.wordsFrom(ctx, o.given.prompts, o.wanted.Comments)
	if shop.plan != nil {
		work.later(shop.plan.Close)
	}
	return nil
}

// tree takes the clone.
func (o *cloneOpening) tree(ctx context.Context, way loop.Way) (*git.Tree, error) {
	branch, fresh := "ralph/"+o.wanted.ID, way == loop.Begin && (o.dir != "" || o.Fresh)
	if o.Plan != "" { // what was approved stays approved: another run goes on where the plan stands
		branch, fresh = o.source.plan.BranchName, way == loop.Begin && o.Fresh
	}
	places := o.places()
	if err := places.clear(); err != nil {
		return nil, err
	}
	var err error
	if o.begins, err = o.footing(ctx, way); err != nil {
		return nil, err
	}
	tree, err := git.Open(ctx, o.Dir, git.Options{
		With: o.begins.with, Onto: o.begins.onto, Came: o.begins.came, Replaces: o.begins.replaces,
		Env: o.Parent, Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Task: o.wanted.ID, Join: o.Plan != "",
		Own: o.source.own(way != loop.Begin && !o.before.Settled()), Root: places.state, Scratch: places.scratch,
		Fresh: fresh, Resume: way != loop.Begin, Settled: o.before.Settled(), Died: way != loop.Begin && o.before.End == nil, Killed: o.killed, AllowDirty: o.AllowDirty, Log: o.log, Secrets: o.secrets(),
	}, branch, o.begins.base)
	if err != nil {
		return nil, err
	}
	if way == loop.Begin && o.dir != "" && (fresh || o.Plan == "") {
		if err := tree.Archive(ctx); err != nil {
			o.log("archiving old failure branches: %v", err)
		}
	}
	return tree, nil
}

// beginning says how the run begins or goes on.
func (o *cloneOpening) beginning(_ context.Context, work *opened, way loop.Way) (b beginning, err error) {
	run, owner := newRun(o.Clock()), fmt.Sprintf("process %d", os.Getpid())
	if way != loop.Begin {
		run = filepath.Base(o.dir)
	}
	leave, err := o.enlist()
	if err != nil {
		return b, err
	}
	work.later(leave)
	work.ledger = &ledger{clock: o.Clock, watch: o.watch, redact: o.redact, stored: o.stored}
	b = beginning{way: way, dir: o.runDir(run), book: o.book}
	given, leftOut := work.shop.judge.record(), work.shop.tree.Modified()
	if way == loop.Begin {
		b.start = work.shop.start(run, o.wanted)
		b.start.Owner, b.start.Shared, b.start.LeftOut = owner, given, leftOut
		b.start.BuiltOn, b.start.Came = o.begins.works(), work.shop.tree.Came()
		if ground := work.shop.tree.Ground(); ground != b.start.Base {
			b.start.Ground = ground
		}
		return b, nil
	}
	b.resume = &loop.Resume{Owner: owner, Retry: way == loop.Again}
	if len(o.Accept) > 0 || o.before.Start.Shared == nil { // from here on it counts as what there was before the first turn
		b.resume.Shared = given
	}
	if way == loop.Again {
		b.resume.MaxIterations = work.shop.goal.most
	}
	return b, nil
}

// aim settles what judges the run, and what "done" means for it.
func (l *Local) aim(ctx context.Context, shop *workshop, t task.Task) error {
	shop.brings = l.source.plan.VerifyCommands
	if err := shop.guard(ctx, shop.tree.Base()); err != nil {
		return err
	}
	if l.Plan != "" {
		return usePlan(shop, l.source)
	}
	return shop.settle(t, l.Criteria, l.trusted(t))
}

// places are the directories of ours for a clone, outside of it where an agent has no business.
type places struct {
	clone   string // what they are for
	state   string // what outlives a process: how the run's own repository stands
	scratch string // what does not: checkouts, homes
}

// cloneNote is a file in each of them that names the clone, for whoever wonders what the directory is.
const cloneNote = "clone"

// places finds them. Where the user has no such directories, or they lie in the clone, they are in its .git.
func (s *Seat) places() places { return s.placesOn(runtime.GOOS) }

func (s *Seat) placesOn(system string) places {
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		dir = s.Dir
	}
	sum := sha256.Sum256([]byte(dir))
	name := filepath.Join("ralph", "clones", hex.EncodeToString(sum[:8]))
	own := filepath.Join(gitDir(dir), "ralph", "own")
	p := places{dir, own, filepath.Join(own, "scratch")}
	if state, err := stateDir(system, s.Parent); err == nil && !liesIn(dir, state) {
		p.state = filepath.Join(state, name)
	}
	if cache := userCacheDir(system, s.Parent); cache != "" && !liesIn(dir, cache) {
		p.scratch = filepath.Join(cache, name)
	}
	if p.scratch == p.state { // some systems have one directory for both, and what is in the scratch is removed
		p.scratch = filepath.Join(p.state, "scratch")
	}
	return p
}

// liesIn reports whether a path lies in a directory.
func liesIn(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// gitDir is where a working tree's repository is; of one that is linked to another's, its own part of that.
func gitDir(top string) string {
	git := filepath.Join(top, ".git")
	text, err := files.Read(git)
	if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); err == nil && ok {
		if !filepath.IsAbs(to) {
			to = filepath.Join(top, to)
		}
		return filepath.Clean(to)
	}
	return git
}

// clear removes what a process that died has left, and makes the place for this one. Whoever calls it keeps others out of the clone.
func (p places) clear() error {
	if err := files.RemoveAll(p.scratch); err != nil {
		return fmt.Errorf("removing what an earlier run has left in %s: %w", p.scratch, err)
	}
	if err := errors.Join(os.MkdirAll(p.scratch, 0o700), os.MkdirAll(p.state, 0o700)); err != nil {
		return fmt.Errorf("making a place for the run: %w", err)
	}
	for _, dir := range []string{p.scratch, p.state} {
		if err := files.Replace(filepath.Join(dir, cloneNote), []byte(p.clone+"\n")); err != nil {
			return fmt.Errorf("making a place for the run: %w", err)
		}
	}
	return nil
}
