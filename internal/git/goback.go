package git

import (
	"context"
	"errors"
	"fmt"
)

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
	puts, gone, err := t.corrections(ctx, Correction{Since: to, Keep: []string{}})
	if err != nil {
		return "", err
	}
	steady := t.indexed == t.head
	t.indexed = ""
	if err := errors.Join(t.inIndex(ctx, nil, puts, gone), t.layDown(ctx, puts, gone), t.setHead(to)); err != nil {
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
