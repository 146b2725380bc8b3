package git

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// GoBack puts the run's branch, the index and the working tree back from one commit of the run to an earlier one. What
// came after it is kept on the branch that is named; empty: nothing did.
func (t *Tree) GoBack(ctx context.Context, from, to string) (branch string, err error) {
	if from != to {
		if branch, err = t.archiveCommit(ctx, from); err != nil {
			return "", err
		}
	}
	if err := errors.Join(t.settle(), t.guardOwn(ctx)); err != nil {
		return "", err
	}
	defer t.noteIndex()
	puts, gone, err := t.corrections(ctx, Correction{Since: to, Keep: []string{}})
	if err != nil {
		return "", err
	}
	steady := t.indexed == t.head
	t.indexed = ""
	if err := errors.Join(t.inIndex(ctx, nil, puts, gone), t.layDown(ctx, puts, gone), t.stand(ctx, to)); err != nil {
		return "", fmt.Errorf("going back to commit %.12s: %w", to, err)
	}
	if t.headTree, err = t.TreeOf(ctx, to); err != nil {
		return "", err
	}
	if t.head = to; steady {
		t.indexed = to
	}
	return branch, t.handOver(ctx)
}

// Retreat puts a clone back where it stood when it was opened and takes the run's branch away, when the run has made no
// commit on it: a run that could not even begin leaves nothing behind. What Adopt has committed lies there uncommitted
// as before. Otherwise it does nothing.
func (t *Tree) Retreat(ctx context.Context) error {
	if t.bot {
		return nil
	}
	if err := t.release(ctx); err != nil {
		return err
	}
	if t.marked && t.came.ref == t.ref() && t.head == t.came.commit {
		return os.Remove(t.mark())
	}
	if t.head != t.base || t.came.ref == t.ref() {
		return nil
	}
	if err := t.Return(ctx); err != nil {
		return err
	}
	if _, err := t.user.door.out(ctx, "update-ref", "-d", t.ref(), t.base); err != nil {
		return fmt.Errorf("taking the empty branch %s away: %w", t.branch, err)
	}
	return os.Remove(t.mark())
}
