package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Start puts the working tree on the run's branch: at the base, or where earlier work of the run stands. On a command
// line the branch is made, and the clone stands on it from then on.
func (t *Tree) Start(ctx context.Context) error {
	own, err := t.ownToCarry(ctx)
	if err != nil {
		return err
	}
	if t.o.Fresh {
		if err := t.setAside(ctx); err != nil {
			return err
		}
	}
	if !t.bot { // first: a branch that is there without it would be nobody's
		if err := t.writeMark(); err != nil {
			return err
		}
	}
	if err := t.checkOut(ctx); err != nil {
		return err
	}
	if err := t.carry(ctx, own); err != nil {
		return err
	}
	if err := t.findLinks(ctx); err != nil {
		return err
	}
	if !t.bot {
		if err := t.user.freeze(); err != nil {
			return err
		}
		return t.handFirst(ctx)
	}
	if err := t.giveTree(ctx, t.git, t.work, t.index); err != nil {
		return fmt.Errorf("giving the checkout to the agent's user: %w", err)
	}
	t.indexed = t.head
	return t.handFirst(ctx)
}

// handFirst hands the tree over for the first turn, and remembers what there was before it.
func (t *Tree) handFirst(ctx context.Context) error {
	if err := t.handOver(ctx); err != nil {
		return err
	}
	t.given = maps.Clone(t.handedRefs())
	return t.findModules(ctx)
}

func (t *Tree) checkOut(ctx context.Context) error {
	if t.bot {
		_, err := t.git.out(ctx, "checkout", "-q", "-f", "--no-track", "-B", t.branch, t.head)
		if err != nil {
			return fmt.Errorf("checking out %s: %w", t.branch, err)
		}
		t.headAt = t.head
		return nil
	}
	if err := t.checkOutHere(ctx); err != nil {
		return err
	}
	return t.setHead(ctx, t.head)
}

// checkOutHere puts the clone on the run's branch, before the first turn.
func (t *Tree) checkOutHere(ctx context.Context) error {
	now, err := t.user.where(ctx)
	if err != nil {
		return err
	}
	if now.ref == t.ref() && now.commit == t.head {
		return nil
	}
	if t.o.Resume && !t.besideUser() {
		if err := t.refuseDirty(ctx); err != nil {
			return fmt.Errorf("the clone is not on the run's branch %s: %w", t.branch, err)
		}
	}
	if err := errors.Join(t.moving(now.commit, t.head), t.user.note(t.ref(), t.head)); err != nil {
		return err
	}
	_, err = t.user.door.out(ctx, "checkout", "-q", "--no-track", "-B", t.branch, t.head, "--")
	if err == nil || exit(err) > 0 { // then it has done all or nothing
		t.hasMoved()
	}
	if err != nil {
		// what git says is told below
		if lying, _ := t.uncommitted(ctx, t.o.Own); len(t.o.Own) > 0 && len(lying) > 0 && exit(err) > 0 {
			return fmt.Errorf("%s is not committed here, and the branch %s has it otherwise: check that branch out to go on "+
				"from it, or move the files away (%w)",
				lying[0], t.branch, err)
		}
		return fmt.Errorf("checking out %s: %w", t.branch, err)
	}
	return t.takeIndex(ctx)
}

// setAside keeps what a fresh run takes the branch from: it becomes wip/archive/<branch>-<commit>.
func (t *Tree) setAside(ctx context.Context) error {
	old := t.pushed.branch
	if !t.bot {
		old = t.user.at(ctx, t.ref())
	}
	if old == "" || old == t.o.Replaces {
		return nil
	}
	if _, err := t.git.out(ctx, "merge-base", "--is-ancestor", old, t.base); err == nil {
		return nil // the base has all of it
	}
	_, err := t.archiveCommit(ctx, old)
	return err
}

// archiveCommit keeps a commit of the run's branch as wip/archive/<branch>-<commit>.
func (t *Tree) archiveCommit(ctx context.Context, commit string) (branch string, err error) {
	branch = fmt.Sprintf("wip/archive/%s-%.8s", t.branch, commit)
	ref := "refs/heads/" + branch
	if !t.bot {
		return branch, t.user.set(ctx, ref, commit)
	}
	if _, err := t.git.out(ctx, "update-ref", ref, commit); err != nil {
		return "", fmt.Errorf("keeping the earlier work of %s: %w", t.branch, err)
	}
	return branch, t.pushRefs(ctx, commit+":"+ref)
}

// findLinks notes the tree's submodules. Git must never look inside them: it would run there what their configuration
// says.
func (t *Tree) findLinks(ctx context.Context) error {
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
