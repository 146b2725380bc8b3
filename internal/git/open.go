package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// Open takes the user's clone that dir is in, for a run on its own branch from base ("" is where HEAD is). Tracked
// files must be as committed, unless a killed run is resumed. Files that are there and not tracked stay the user's: no
// commit takes them up and nothing removes them. Whoever calls keeps every other run out of the clone.
func Open(ctx context.Context, dir string, o Options, branch, base string) (*Tree, error) {
	t := &Tree{o: o, branch: branch, user: users{
		door: door{dir: dir, env: usersDoor(o.Env), pair: safe}, tips: o.Tips}}
	if err := t.open(ctx, base); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tree) open(ctx context.Context, base string) error {
	if err := t.refuseName(); err != nil {
		return err
	}
	if err := t.user.find(ctx); err != nil {
		return err
	}
	t.work = t.user.top
	if t.o.Root == "" {
		t.o.Root = filepath.Join(t.user.dir, "ralph", "own")
	}
	if err := t.clearLocks(); err != nil {
		return err
	}
	if err := t.endMove(ctx); err != nil {
		return err
	}
	head, err := t.user.where(ctx)
	if err != nil {
		return err
	}
	if head.commit == "" {
		return fmt.Errorf("%s has no commit yet: make a first one, then run again", t.work)
	}
	t.came = t.cameFrom(ctx, head)
	if !t.o.Resume {
		err := t.refuseUnderWay()
		if err == nil && !t.o.AllowDirty {
			err = t.refuseDirty(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if err := t.join(ctx, head); err != nil {
		return err
	}
	switch t.baseBranch = base; {
	case base == "" && head.ref == t.ref() && t.theirs && (t.o.Fresh || !t.ours()):
		base, t.baseBranch = head.commit, ""
	case base == "" && head.ref == t.ref() && t.ours():
		base = t.earlierBase()
	case base == "":
		base, t.baseBranch = head.commit, strings.TrimPrefix(head.ref, "refs/heads/")
	case t.o.Onto != "":
		t.baseBranch = t.o.Onto
	}
	return t.beginHere(ctx, base, head)
}

// cameFrom is where the clone is to be left when the run comes to nothing.
func (t *Tree) cameFrom(ctx context.Context, head place) place {
	if t.o.Came == "" || head.ref != t.ref() {
		return head
	}
	commit := t.user.at(ctx, t.o.Came)
	switch {
	case commit == "": // it is gone
		return head
	case strings.HasPrefix(t.o.Came, "refs/"):
		return place{t.o.Came, commit}
	}
	return place{commit: commit}
}

// prepare makes our directories: one in the clone's .git that the agent's git reads, and the harness's own repository,
// both of which a killed run leaves for the next; and one for scratch.
func (t *Tree) prepare(ctx context.Context) error {
	name := stateName(t.branch)
	t.state = filepath.Join(t.branchNotes(), name)
	if err := os.MkdirAll(t.state, 0o755); err != nil {
		return fmt.Errorf("making a place for the run in %s: %w", t.user.dir, err)
	}
	t.dir = filepath.Join(t.o.Root, "repo", name)
	t.index = filepath.Join(t.dir, "index")
	if err := t.layRepository(ctx); err != nil {
		return err
	}
	if err := t.leaveOut(ctx); err != nil {
		return err
	}
	if !t.o.unsettled() || !isRegular(t.index) {
		if err := t.takeIndex(ctx); err != nil {
			return err
		}
	} else if err := t.findMarks(ctx); err != nil {
		return err
	}
	if err := t.writeExcludes(ctx); err != nil {
		return err
	}
	return t.keep(ctx)
}

// stateName is the directory of a branch's run beside those of other branches. The worktree's lock and the harness's
// own directory lie there, too.
func stateName(branch string) string {
	if strings.EqualFold(branch, "lock") || strings.EqualFold(branch, "own") {
		return fmt.Sprintf("%%%02X%s", branch[0], branch[1:])
	}
	return strings.ReplaceAll(branch, "/", "%2F")
}

// unsettled reports whether a run is taken up within a turn: what lies about in the tree may be the agent's.
func (o Options) unsettled() bool { return o.Resume && !o.Settled }

// beginHere settles base and head, and that the branch is ours to work on.
func (t *Tree) beginHere(ctx context.Context, base string, head place) error {
	tip := t.user.at(ctx, "refs/heads/"+base)
	if tip == "" {
		tip = t.user.at(ctx, base)
	}
	if tip == "" && t.o.Resume {
		return t.UseBase(ctx, base) // says what to do
	}
	if tip == "" {
		if exists(filepath.Join(t.common(), "shallow")) {
			return fmt.Errorf("the clone is shallow and does not hold %s: run git fetch --unshallow, then run again", base)
		}
		return fmt.Errorf("%s is not a commit or branch of this clone: name another base", base)
	}
	if len(t.o.With) > 0 && !t.o.Resume {
		var err error
		t.ground = tip
		if tip, err = t.mergeAll(ctx, tip, t.o.With); err != nil {
			return err
		}
	}
	work := t.user.at(ctx, t.ref())
	if work != "" && !t.ours() && !t.theirs {
		return t.notOurs()
	}
	t.record = t.user.at(ctx, t.recordRef())
	if t.o.Fresh && t.theirs && tip != work {
		return fmt.Errorf("the branch %s is yours, and a fresh run from %s would set it back: check it out and begin where "+
			"it stands, or choose another name", t.branch, base)
	}
	if t.o.Fresh {
		return t.begin(ctx, tip, "")
	}
	if t.o.Resume && head.ref == t.ref() && work != "" {
		work = head.commit
	}
	return t.begin(ctx, tip, work)
}

// notOurs says whose the branch is, as far as that is known.
func (t *Tree) notOurs() error {
	if other := t.usedIn(); other != "" {
		return fmt.Errorf(
			"the branch %s belongs to a run in the working tree %s: go on there, or rename or delete the branch", t.branch,
			other)
	}
	return fmt.Errorf("the branch %s exists, and nothing shows that ralph has made it: rename or delete it, or choose "+
		"another name", t.branch)
}

// usedIn is another working tree of the same repository in which a run has made the branch; empty: there is none.
func (t *Tree) usedIn() string {
	state := filepath.Join("ralph", stateName(t.branch), filepath.Base(t.mark()))
	if t.user.dir != t.user.common && exists(filepath.Join(t.user.common, state)) {
		return filepath.Dir(t.user.common)
	}
	// the pattern is well formed, or finds nothing
	marks, _ := filepath.Glob(filepath.Join(t.user.common, "worktrees", "*", state))
	for _, mark := range marks {
		dir := filepath.Clean(strings.TrimSuffix(mark, state))
		text, err := files.Read(filepath.Join(dir, "gitdir"))
		if err == nil && dir != t.user.dir {
			return filepath.Dir(strings.TrimSpace(string(text)))
		}
	}
	return ""
}

// branchNotes is where the runs of the working tree keep what they know of their branches: of one that belongs to a run, where
// those of the clone do.
func (t *Tree) branchNotes() string { return filepath.Join(cmp.Or(t.o.Marks, t.user.dir), "ralph") }

// mark is the file that says that the run's branch was made by us.
func (t *Tree) mark() string { return filepath.Join(t.state, "branch") }

func (t *Tree) ours() bool { return exists(t.mark()) }

// earlierBase is what the run was begun from: its commit, or for a fresh run the branch that it was on.
func (t *Tree) earlierBase() string {
	text, _ := files.Read(t.mark()) // it is there
	line, _, _ := strings.Cut(string(text), "\n")
	commit, branch, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.baseBranch = branch
	if t.o.Fresh && branch != "" {
		return branch
	}
	return commit
}

// ignore drops the failure of a command that was a question.
func ignore(err error) error {
	if exit(err) > 0 {
		return nil
	}
	return err
}
