package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
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

// takeUpTurn leaves everything as the turn has left it, its repository too. The next commit takes it up.
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

// archived is where a commit of the run's branch is kept that the branch is taken from.
func (t *checkout) archived(commit string) string {
	return fmt.Sprintf("refs/heads/wip/archive/%s-%.8s", t.branch, commit)
}

// findLinks notes the tree's submodules. Git must never look inside them: it would run there what their configuration
// says.
func (t *checkout) findLinks(ctx context.Context) error {
	out, err := t.git.out(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return fmt.Errorf("looking for submodules: %w", err)
	}
	t.links = map[string]bool{}
	for _, entry := range records(out) {
		if about, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(about, "160000 ") {
			t.links[name] = true
		}
	}
	return nil
}

// BeginFresh makes Start begin at the base again, where the base branch is now, as Options.Fresh does; for callers that
// know it only after they have read the run record.
func (t *Tree) BeginFresh() {
	t.o.Fresh = true
	if t.newest[0] != "" {
		t.base, t.baseTree = t.newest[0], t.newest[1]
	}
	t.head, t.headTree = t.base, t.baseTree
}

// BeginAgain makes Start begin at the commit that UseBase has named, and set aside what an earlier run has left on the
// origin's branch: for a fresh run that was killed before its first commit.
func (t *Tree) BeginAgain() {
	if t.pushed.branch != "" {
		t.o.Fresh = true
		t.head, t.headTree = t.base, t.baseTree
	}
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
