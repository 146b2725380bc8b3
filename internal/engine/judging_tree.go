package engine

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// Checks do not run where the agent works. They run in a checkout of exactly the commit that they judge, with what the
// setup makes there, and on a laptop with what the user shares with them of the clone. So what passes is what somebody
// gets who clones the commit and runs the setup.
//
// Where a sandbox cannot show that checkout at the worktree's path, it lies somewhere else. People and agents know the
// worktree alone, so what a check says of the other path is said of that one, and a path into the worktree is given to
// a check as one into the checkout.

// judgingTree is the tree that a run's checks run in. It implements check.Tree.
type judgingTree struct {
	run  *Run
	dir  string // where it lies; its parent is ours alone
	tree *git.JudgeTree

	box    *sandbox.Sandbox
	made   git.Footprint // what the setup has left there, as it left it
	own    []string      // the paths of that
	setAt  string        // the commit that the setup last ran on; empty: it never did
	shared []*Shared
	home   *homeGuard // nil: the checks have a home of their own
	base   string     // the commit whose setup homes begin with; empty: it has not run
	swept  []string   // what was removed of earlier checks before these ones
	dirty  []string   // the tracked files that the last check has changed
}

// newJudgingTree plans a run's judging tree, with what is shared with it.
func newJudgingTree(run *Run, shared []*Shared) *judgingTree {
	return &judgingTree{run: run, dir: run.judgeDir(), shared: shared}
}

// judgeDir is where the judging tree lies; "" where there is none. It keeps the name of the clone, which tools show.
func (spec *Spec) judgeDir() string {
	if spec.JudgeName == "" {
		return ""
	}
	return filepath.Join(spec.Scratch, "judge", path.Base(filepath.ToSlash(spec.JudgeName)))
}

// admit lets the user whom checks run as come to the tree, or keeps it out: while an agent takes a turn as that user.
func (j *judgingTree) admit(in bool) {
	if j == nil || j.run.User == nil {
		return
	}
	mode := os.FileMode(0o700)
	if in {
		mode = 0o711
	}
	if err := os.Chmod(filepath.Dir(j.dir), mode); err != nil && !errors.Is(err, os.ErrNotExist) {
		j.run.Log("warning: closing the tree of the checks: %v", err)
	}
}

// mapped reports whether checks see the tree at the worktree's own path.
func (j *judgingTree) mapped() bool { return j.box.Mapped() }

// workdir is where the checks run.
func (j *judgingTree) workdir() string {
	return filepath.Join(j.dir, filepath.FromSlash(j.run.Settings.WorkingDirectory))
}

// asWorktree is a text of a check's as people read it.
func (j *judgingTree) asWorktree(text string) string {
	if j == nil {
		return text
	}
	return replacePath(text, j.dir, j.run.Workspace.Dir())
}

// inCheckout is a text of the settings or of the environment as a check gets it.
func (j *judgingTree) inCheckout(text string) string {
	if j == nil || j.mapped() {
		return text
	}
	return replacePath(text, j.run.Workspace.Dir(), j.dir)
}

// environ leads the variables of an environment to the tree.
func (j *judgingTree) environ(env []string) []string {
	if j == nil || j.mapped() {
		return env
	}
	out := make([]string, len(env))
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		out[i] = name + "=" + j.inCheckout(value)
	}
	return out
}
