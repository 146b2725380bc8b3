package git

import (
	"context"
	"errors"
	"fmt"
)

// Clean names the tracked files that are not as the newest commit has them; none when the tree is clean.
func (t *Tree) Clean(ctx context.Context) (dirty []string, err error) {
	if err := t.settle(); err != nil {
		return nil, err
	}
	if err := t.guardOwn(ctx); err != nil {
		return nil, err
	}
	defer t.noteIndex()
	out, err := t.git.out(ctx, "diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", t.head, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the tree with commit %.12s: %w", t.head, err)
	}
	return records(out), nil
}

// Restore makes the tree what the newest commit has: tracked files are put back, files that are neither tracked nor ignored removed.
// A commit has taken up everything of the agent's, so what is removed was made by a check. The user's own untracked files stay.
func (t *Tree) Restore(ctx context.Context) error {
	if t.owes {
		return errors.New("putting the tree back: what is the run's own has not been committed yet")
	}
	dirty, err := t.Clean(ctx)
	if err != nil {
		return err
	}
	if !t.bot {
		t.dropHalfDone()
	}
	if err := t.setHead(ctx, t.head); err != nil {
		return err
	}
	t.indexed = ""
	if _, err := t.git.out(ctx, "reset", "-q", "--hard", t.head); err != nil {
		return fmt.Errorf("putting the tree back to commit %.12s: %w", t.head, err)
	}
	if err := t.clean(ctx); err != nil {
		t.log("git: not everything could be removed: %v", err)
	}
	if err := t.ownSome(dirty); err != nil {
		return fmt.Errorf("giving the files to the agent's user: %w", err)
	}
	t.indexed = t.head
	return t.handOver(ctx)
}
