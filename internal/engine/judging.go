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

// Open makes the tree at a commit.
func (j *judgingTree) Open(ctx context.Context, box *sandbox.Sandbox, commit string) (err error) {
	if err := os.MkdirAll(filepath.Dir(j.dir), 0o700); err != nil {
		return fmt.Errorf("making the tree for the checks: %w", err)
	}
	j.box, j.home = box, j.run.guardHome(box)
	j.run.Log("the checks run in a checkout of their own")
	if j.tree, err = j.run.Tree.OpenJudge(j.dir, box.ObjectsSeen()); err != nil {
		return err
	}
	j.lacking, err = j.tree.Use(ctx, commit)
	for _, what := range j.lacking {
		j.run.Log("warning: %s", what)
	}
	if err != nil {
		return err
	}
	if err := j.copyShared(); err != nil {
		return err
	}
	if names := j.sharedPaths(); len(names) > 0 {
		j.run.Log("the checks have your %s, which no commit has", strings.Join(names, ", "))
	}
	return nil
}

// Close removes the tree.
func (j *judgingTree) Close() error {
	if j == nil || j.tree == nil {
		return nil
	}
	return j.tree.Close()
}

// Prepare implements check.Tree.
func (j *judgingTree) Prepare(ctx context.Context, at check.Input, fresh bool) (*loop.Verdict, error) {
	commit := j.tree.Commit()
	if at.Iteration.Commit != nil {
		commit = at.Iteration.Commit.SHA
	}
	var err error
	if j.used || commit != j.tree.Commit() {
		j.lacking, err = j.tree.Use(ctx, commit)
		if err == nil && !fresh { // if it is fresh, the sweep does
			err = j.tree.Tidy(ctx)
		}
		j.used = err != nil
	}
	if err == nil {
		err = j.putHomeBack()
	}
	if err != nil {
		return nil, err
	}
	if len(j.lacking) > 0 {
		return unusableTree("checkout", strings.Join(j.lacking, "; ")), nil
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
	return j.keepReady(ctx, commit)
}

// putHomeBack makes the home that the checks share with the agent decide what it did before the run.
func (j *judgingTree) putHomeBack() error {
	if j == nil {
		return nil
	}
	changed, err := j.home.putBack(j.run.aside(j.run.Dir))
	if len(changed) > 0 {
		j.run.Log(
			"warning: %s decides how checks run and was changed during the run; it is put back, and the change is in %s",
			safetext.FirstN(changed, 5), j.run.Dir,
		)
	}
	return err
}

// sweep removes what earlier checks have left, and names it: only what the setup has made stays, and what is shared,
// both as they were.
func (j *judgingTree) sweep(ctx context.Context) ([]string, error) {
	swept, err := j.tree.Wipe(ctx, slices.Concat(j.own, j.sharedPaths()))
	if err != nil {
		return nil, err
	}
	if j.bare, err = j.box.FreshHome(); err != nil {
		return nil, err
	}
	j.bare = j.bare || j.setAt != j.base && j.run.Boxed() // what it left there was of another commit
	return swept, j.restoreShared()
}

// keepReady runs the setup again when a file that it reads has changed, when something has changed what it made, or when
// the home of the checks lacks what it leaves there.
func (j *judgingTree) keepReady(ctx context.Context, commit string) (*loop.Verdict, error) {
	if j.setAt == "" {
		return nil, nil
	}
	why, err := j.unready(ctx, commit)
	if why == "" && j.bare {
		why = "the checks have a new home"
	}
	if err != nil || why == "" {
		return nil, err
	}
	j.run.Log("setup: again, since %s", why)
	if _, err := j.tree.Wipe(ctx, j.sharedPaths()); err != nil {
		return nil, err
	}
	if err := j.box.RenewHome(); err != nil {
		return nil, err
	}
	err = j.run.runSetup(ctx, j.workdir())
	if failed, ok := errors.AsType[*setupError](err); ok {
		v := unusableTree("setup", failed.summary())
		v.Exit, v.Output, v.PromptText = failed.exit, loop.Excerpt(failed.output), fmt.Sprintf(
			"The setup failed, so no check could run: %v", failed,
		)
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, j.noteSetup(ctx, commit)
}

// unready says why the setup has to run again; empty: it need not.
func (j *judgingTree) unready(ctx context.Context, commit string) (string, error) {
	if commit != j.setAt {
		changed, err := j.run.Tree.Changed(ctx, j.setAt, commit)
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
func (j *judgingTree) setupReads(name string) bool {
	return detect.SetupReads(path.Base(name)) ||
		slices.ContainsFunc(j.run.Settings.SetupInputs, func(glob string) bool {
			return doublestar.MatchUnvalidated(glob, name)
		})
}

// noteSetup remembers what the setup has left in the tree, and removes what belongs neither to the commit nor to what
// is ignored.
func (j *judgingTree) noteSetup(ctx context.Context, commit string) error {
	found, err := j.tree.Strays(ctx)
	if err != nil {
		return err
	}
	if names := slices.Concat(found.Changed, found.Others); len(names) > 0 {
		j.run.Log(
			"warning: the setup has left %s, which is neither committed nor ignored: it is taken back before the checks",
			safetext.FirstN(names, 5),
		)
	}
	if err := j.tree.Restore(ctx, found); err != nil {
		return err
	}
	ignored, err := j.tree.Ignored(ctx)
	if err != nil {
		return err
	}
	given := j.sharedPaths()
	j.own = slices.DeleteFunc(
		ignored, func(name string) bool { return slices.Contains(given, strings.TrimSuffix(name, "/")) },
	)
	j.made, j.setAt, j.bare = git.FootprintOf(j.dir, j.own), commit, false
	return j.sealHome()
}

// sealHome says that the setup has ended. The first time it has run on the commit that the run began from, and every home
// begins as what it has left in its own; later it has run in the home of the checks, for them alone.
func (j *judgingTree) sealHome() (err error) {
	if j.base != "" {
		return nil
	}
	j.base = j.tree.Commit()
	j.bare, err = j.box.SealHome()
	return err
}

// Clean implements check.Tree.
func (j *judgingTree) Clean(ctx context.Context) (dirty []string, err error) {
	j.strays, err = j.tree.Strays(ctx)
	return j.strays.Changed, err
}

// Restore implements check.Tree: it puts back what Clean has just found.
func (j *judgingTree) Restore(ctx context.Context) error { return j.tree.Restore(ctx, j.strays) }
