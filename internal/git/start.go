package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// Start puts the working tree on the run's branch: at the base, or where earlier work of the run stands. What a run that
// was stopped within a turn has left there stays as it is.
func (t *Tree) Start(ctx context.Context) error {
	if t.o.Fresh {
		if err := t.setAside(ctx); err != nil {
			return err
		}
	}
	lies := t.o.Unsettled && exists(t.index) // git writes it when everything is checked out
	if lies {
		t.standWhereItLies(ctx)
	}
	if _, err := t.origin.hold(ctx, t.head, t.pushed.branch); err != nil {
		return err
	}
	if lies {
		return t.takeUpTurn(ctx)
	}
	if err := t.keepLying(ctx); err != nil {
		return err
	}
	if err := t.checkOut(ctx); err != nil {
		return err
	}
	if err := t.findLinks(ctx); err != nil {
		return err
	}
	if err := t.layModules(ctx); err != nil {
		return err
	}
	if err := t.git.giveTree(ctx, t.work, t.o.As); err != nil {
		return fmt.Errorf("giving the checkout to the agent's user: %w", err)
	}
	t.indexed = t.head
	if err := t.handOver(ctx); err != nil {
		return err
	}
	t.given = maps.Clone(t.handedAs)
	return nil
}

// takeUpTurn leaves everything as the turn has left it, its repository too. The next commit has it.
func (t *Tree) takeUpTurn(ctx context.Context) error {
	t.handedAs = t.refsToHand()
	t.given = maps.Clone(t.handedAs)
	if err := errors.Join(t.settle(), t.findLinks(ctx)); err != nil {
		return err
	}
	if err := t.findModules(ctx); err != nil {
		return err
	}
	if _, err := readAgents(t.work); err != nil { // the agent is not to continue without one
		t.tell(unreadable(err))
		return t.handOver(ctx)
	}
	return nil
}

// standWhereItLies is for a branch that was moved while no one worked in the checkout: the turn continues from the commit
// that it began at, and is put on top of the others' when it is pushed.
func (t *Tree) standWhereItLies(ctx context.Context) {
	out, _ := t.git.out(ctx, "rev-parse", "-q", t.ref()+"^{commit}", t.ref()+"^{tree}") // none: as it is
	at := strings.Fields(out)
	c, ok := t.origin.(*clone)
	if !ok || len(at) != 2 || at[0] == t.head {
		return
	}
	if t.head, t.headTree = at[0], at[1]; !t.aside {
		t.pushed.branch = c.door.meet(ctx, t.head, t.pushed.branch)
	}
}

func (t *Tree) checkOut(ctx context.Context) error {
	if t.partial != "" {
		if err := t.origin.bring(ctx, t.head, t.work, t.index); err != nil {
			return err
		}
	}
	_, err := t.git.out(ctx, "checkout", "-q", "-f", "--no-track", "-B", t.branch, t.head)
	if err == nil && exists(filepath.Join(t.work, ".git")) { // of an earlier process
		err = t.git.clean(ctx)
	}
	if err != nil {
		return fmt.Errorf("checking out %s: %w", t.branch, err)
	}
	t.headAt = t.head
	return nil
}

// setAside keeps what a fresh run takes the branch from: it becomes wip/archive/<branch>-<commit>.
func (t *Tree) setAside(ctx context.Context) error {
	for _, old := range slices.Compact([]string{t.pushed.branch, t.pushed.tip}) {
		if old == "" || slices.Contains(t.o.Replaces, old) {
			continue
		}
		if _, err := t.git.out(ctx, "merge-base", "--is-ancestor", old, t.base); err == nil {
			continue // the base has all of it
		}
		if _, err := t.archiveCommit(ctx, old); err != nil {
			return err
		}
	}
	return nil
}

// archiveCommit keeps a commit of the run's branch as wip/archive/<branch>-<commit>.
func (t *Tree) archiveCommit(ctx context.Context, commit string) (branch string, err error) {
	ref := t.archived(commit)
	return short(ref), t.pushRefs(ctx, move{ref: ref, to: commit})
}

// GoBack puts the run's branch, the index and the working tree back from one commit of the run to an earlier one. What
// came after it is kept on the branch that is named; empty: nothing did.
func (t *Tree) GoBack(ctx context.Context, from, to string) (branch string, err error) {
	if from != to {
		if branch, err = t.archiveCommit(ctx, from); err != nil {
			return "", err
		}
	}
	if err := t.settle(); err != nil {
		return "", err
	}
	tree, err := t.TreeOf(ctx, to)
	if err != nil {
		return "", err
	}
	return branch, t.moveTo(ctx, to, tree)
}

// keepLying keeps what is in the checkout of an earlier process and is in no commit under a ref: a run that begins
// again has no use for it.
func (t *Tree) keepLying(ctx context.Context) error {
	if !exists(t.index) || !exists(filepath.Join(t.work, ".git")) {
		return nil
	}
	at := t.git.at(ctx, t.ref())
	if at == "" { // nothing was checked out yet
		return nil
	}
	ref, err := t.keepFiles(ctx, at)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // no one can begin again for as long as it is there
		t.o.log("git: what an earlier run has left uncommitted is not kept: %v", err)
	case ref != "":
		t.o.log("what an earlier run has left uncommitted is kept as %s", ref)
	}
	return nil
}

// keepFiles keeps the working tree as it is, on top of a commit. ref is empty when that has all of it.
func (t *Tree) keepFiles(ctx context.Context, at string) (ref string, err error) {
	if err := t.findLinks(ctx); err != nil {
		return "", err
	}
	changed, _, err := t.stage(ctx, at, false)
	if err != nil || !changed {
		return "", err
	}
	tree, _, err := t.treesOf(ctx, at)
	if err != nil {
		return "", err
	}
	made, err := t.objects.commit(ctx, newCommit{tree: tree, parents: []string{at},
		message: "ralph: what an earlier run has left"})
	if err != nil {
		return "", err
	}
	if ref, err = t.keepCommit(ctx, made); err != nil {
		return "", err
	}
	return ref, t.pushRefs(ctx, move{ref: ref, to: made})
}

// Held says where the run's branch is checked out, and the command that takes the new work there, when it was not moved
// because someone works there.
func (t *Tree) Held() (dir, command string) {
	c, ok := t.origin.(*clone)
	switch {
	case !ok || c.held[0] != t.ref():
		return "", ""
	case t.aside: // what it has is of the run before, and is kept
		return c.held[1], "git reset --keep " + c.tip
	}
	return c.held[1], "git merge " + c.tip
}

// Remove removes the checkout of a finished run, and its tip if a branch has that commit.
func (t *Tree) Remove(ctx context.Context) error {
	if err := RemoveCheckout(t.o.Root); err != nil {
		return err
	}
	if c, ok := t.origin.(*clone); ok && c.tips != "" && c.tips == t.base && c.held[0] == "" {
		return c.push(ctx, []move{{ref: c.tip}})
	}
	return nil
}

// RemoveCheckout removes a checkout of a clone.
func RemoveCheckout(root string) error {
	if err := files.RemoveAll(root); err != nil {
		return fmt.Errorf("removing the checkout %s: %w", root, err)
	}
	return nil
}
