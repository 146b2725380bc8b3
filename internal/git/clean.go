package git

import (
	"context"
	"fmt"
)

// Clean names the tracked files that are not as the newest commit has them; none when the tree is clean.
func (t *Tree) Clean(ctx context.Context) (dirty []string, err error) {
	if err := t.settle(); err != nil {
		return nil, err
	}
	out, err := t.git.out(ctx, "diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=all", t.head, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the tree with commit %.12s: %w", t.head, err)
	}
	return records(out), nil
}

// Restore makes the tree what the newest commit has: tracked files are put back, files that are neither tracked nor
// ignored removed. A commit has taken up everything of the agent's, so what is removed was made by something else.
func (t *Tree) Restore(ctx context.Context) error {
	dirty, err := t.Clean(ctx)
	if err != nil {
		return err
	}
	return t.restore(ctx, dirty)
}

// restore is Restore for what Clean has just named: no other file is written.
func (t *Tree) restore(ctx context.Context, dirty []string) error {
	if err := t.setHead(t.head); err != nil {
		return err
	}
	t.indexed = ""
	if err := t.writeBack(ctx, len(dirty) > 0); err != nil {
		return fmt.Errorf("putting the tree back to commit %.12s: %w", t.head, err)
	}
	if err := t.give(dirty); err != nil {
		return err
	}
	t.indexed = t.head
	return t.handOver(ctx)
}

func (t *Tree) writeBack(ctx context.Context, dirty bool) error {
	_, err := t.git.out(ctx, "read-tree", "-m", t.head)
	changed := ""
	if err == nil && dirty {
		changed, err = t.git.out(ctx, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
	}
	first, rest := parted(records(changed), steers)
	if err == nil {
		err = t.git.writeAgain(ctx, first)
	}
	if err != nil {
		return err
	}
	if err := t.git.clean(ctx); err != nil {
		t.o.log("git: not everything could be removed: %v", err)
	}
	return t.git.writeAgain(ctx, rest)
}

// parted are the names that something holds of, and the others.
func parted(names []string, holds func(string) bool) (which, others []string) {
	for _, name := range names {
		if holds(name) {
			which = append(which, name)
		} else {
			others = append(others, name)
		}
	}
	return which, others
}
