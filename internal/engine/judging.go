package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Checks do not run where the agent works. They run in a checkout of exactly the commit that they judge, with what the setup makes there, and on a
// laptop with what the user shares with them of the clone. So what passes is what somebody gets who clones the commit and runs the setup.

// JudgingTree is the tree that a run's checks run in. It implements check.Tree.
type JudgingTree struct {
	shop *Spec
	dir  string // where it lies; its parent is ours alone
	tree *git.JudgeTree

	box    *sandbox.Sandbox
	made   git.Footprint // what the setup has left there, as it left it
	own    []string      // the paths of that
	setAt  string        // the commit that the setup last ran on; empty: it never did
	Shared []*shared
	home   *homeGuard // nil: the checks have a home of their own
	swept  []string   // what was removed of earlier checks before these ones
	dirty  []string   // the tracked files that the last check has changed
}

// NewJudging plans a run's judging tree. It keeps the name of the clone, which tools show.
func (w *Spec) NewJudging(clone string) *JudgingTree {
	return &JudgingTree{shop: w, dir: filepath.Join(w.Scratch, "judge", path.Base(filepath.ToSlash(clone)))}
}

// Open makes the tree at a commit.
func (j *JudgingTree) Open(ctx context.Context, box *sandbox.Sandbox, commit string) (err error) {
	if err := os.MkdirAll(filepath.Dir(j.dir), 0o700); err != nil {
		return fmt.Errorf("making the tree for the checks: %w", err)
	}
	j.box, j.home = box, j.shop.guardHome(box)
	j.shop.Log("the checks run in a checkout of their own, %s", j.dir)
	if j.tree, err = j.shop.Tree.OpenJudge(git.JudgeOptions{Dir: j.dir, Objects: box.ObjectsSeen()}); err != nil {
		return err
	}
	lacking, err := j.tree.Use(ctx, commit)
	for _, what := range lacking {
		j.shop.Log("warning: %s", what)
	}
	if err != nil {
		return err
	}
	if err := j.layShared(); err != nil {
		return err
	}
	if names := j.sharedPaths(); len(names) > 0 {
		j.shop.Log("the checks have your %s, which no commit has", strings.Join(names, ", "))
	}
	return nil
}

// Record is what is shared, as the run's record tells of it; never nil.
func (j *JudgingTree) Record() []loop.Shared {
	out := []loop.Shared{}
	for _, s := range j.Shared {
		out = append(out, loop.Shared{Path: s.path, Digest: s.digest})
	}
	return out
}

// Close removes the tree.
func (j *JudgingTree) Close() error {
	if j == nil || j.tree == nil {
		return nil
	}
	return j.tree.Close()
}

// admit lets the user whom checks run as come to the tree, or keeps it out: while an agent takes a turn as that user.
func (j *JudgingTree) admit(in bool) {
	if j == nil || j.shop.User == nil {
		return
	}
	mode := os.FileMode(0o700)
	if in {
		mode = 0o711
	}
	if err := os.Chmod(filepath.Dir(j.dir), mode); err != nil && !errors.Is(err, os.ErrNotExist) {
		j.shop.Log("warning: closing the tree of the checks: %v", err)
	}
}

// mapped reports whether checks see the tree at the worktree's own path.
func (j *JudgingTree) mapped() bool { return j.box.Mapped() }

// workdir is where the checks run.
func (j *JudgingTree) workdir() string {
	return filepath.Join(j.dir, filepath.FromSlash(j.shop.Settings.WorkingDirectory))
}

// Prepare implements check.Tree.
func (j *JudgingTree) Prepare(ctx context.Context, at check.At, fresh bool) (*loop.Verdict, error) {
	commit := j.tree.Commit()
	if at.Iteration.Commit != nil {
		commit = at.Iteration.Commit.SHA
	}
	lacking, err := j.tree.Use(ctx, commit)
	if err == nil {
		err = j.putHomeBack()
	}
	if err != nil {
		return nil, err
	}
	if len(lacking) > 0 {
		return unfit("checkout", strings.Join(lacking, "; ")), nil
	}
	if v, err := j.refused(); v != nil || err != nil {
		return v, err
	}
	j.swept = nil
	if fresh {
		if j.swept, err = j.sweep(ctx); err != nil {
			return nil, err
		}
	}
	if at.Iteration.Commit == nil {
		return nil, nil
	}
	return j.keepReady(ctx, commit)
}

// putHomeBack makes the home that the checks share with the agent decide what it did before the run.
func (j *JudgingTree) putHomeBack() error {
	changed, err := j.home.putBack(j.shop.Dir)
	if len(changed) > 0 {
		j.shop.Log("warning: %s decides how checks run and was changed during the run; it is put back, and the change is in %s", safetext.Few(changed, 5), j.shop.Dir)
	}
	return err
}

// unfit is the verdict on a tree in which nothing can be judged.
func unfit(name, why string) *loop.Verdict {
	return &loop.Verdict{Check: name, Exit: -1, Reason: why, Tell: "The checks could not be run: " + why + "."}
}

// sweep removes what earlier checks have left, and names it: only what the setup has made stays, and what is shared, both as they were.
func (j *JudgingTree) sweep(ctx context.Context) ([]string, error) {
	swept, err := j.tree.Wipe(ctx, slices.Concat(j.own, j.sharedPaths()))
	if err != nil {
		return nil, err
	}
	if err := j.box.FreshHome(); err != nil {
		return nil, err
	}
	return swept, j.restoreShared()
}

// keepReady runs the setup again when a file that it reads has changed, or something has changed what it made.
func (j *JudgingTree) keepReady(ctx context.Context, commit string) (*loop.Verdict, error) {
	if j.setAt == "" {
		return nil, nil
	}
	why, err := j.unready(ctx, commit)
	if err != nil || why == "" {
		return nil, err
	}
	j.shop.Log("setup: again, since %s", why)
	if _, err := j.tree.Wipe(ctx, j.sharedPaths()); err != nil {
		return nil, err
	}
	err = j.shop.runSetup(ctx, j.workdir())
	var failed *unpreparedError
	if errors.As(err, &failed) {
		v := unfit("setup", failed.summary())
		v.Exit, v.Output, v.Tell = failed.exit, loop.Excerpt(failed.output), fmt.Sprintf("The setup failed, so no check could run: %v", failed)
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, j.noteSetup(ctx, commit)
}

// unready says why the setup has to run again; empty: it need not.
func (j *JudgingTree) unready(ctx context.Context, commit string) (string, error) {
	if commit != j.setAt {
		changed, err := j.shop.Tree.Changed(ctx, j.setAt, commit)
		if err != nil {
			return "", err
		}
		for _, name := range changed {
			if j.setupReads(name) {
				return name + " has changed", nil
			}
		}
	}
	added, changed := j.made.Differs(j.dir)
	if changed {
		return "what it made has been changed since", nil
	}
	return "", j.tree.Remove(added)
}

// setupReads reports whether what the setup does may depend on a file.
func (j *JudgingTree) setupReads(name string) bool {
	return detect.SetupReads(path.Base(name)) || slices.ContainsFunc(j.shop.Settings.SetupInputs, func(glob string) bool {
		return doublestar.MatchUnvalidated(glob, name)
	})
}

// noteSetup remembers what the setup has left in the tree, and removes what belongs neither to the commit nor to what is ignored.
func (j *JudgingTree) noteSetup(ctx context.Context, commit string) error {
	dirty, err := j.tree.Changed(ctx)
	if err != nil {
		return err
	}
	stray, err := j.tree.Untracked(ctx)
	if err != nil {
		return err
	}
	if names := slices.Concat(dirty, stray); len(names) > 0 {
		j.shop.Log("warning: the setup has left %s, which is neither committed nor ignored: it is taken back before the checks", safetext.Few(names, 5))
	}
	if err := j.tree.Restore(ctx, dirty); err != nil {
		return err
	}
	ignored, err := j.tree.Ignored(ctx)
	if err != nil {
		return err
	}
	given := j.sharedPaths()
	j.own = slices.DeleteFunc(ignored, func(name string) bool { return slices.Contains(given, strings.TrimSuffix(name, "/")) })
	j.made, j.setAt = git.FootprintOf(j.dir, j.own), commit
	return j.box.KeepHome()
}

// Clean implements check.Tree.
func (j *JudgingTree) Clean(ctx context.Context) (dirty []string, err error) {
	j.dirty, err = j.tree.Changed(ctx)
	return j.dirty, err
}

// Restore implements check.Tree: it puts back what Clean has just named.
func (j *JudgingTree) Restore(ctx context.Context) error { return j.tree.Restore(ctx, j.dirty) }
