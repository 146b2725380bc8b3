package git

import (
	"context"
	"errors"
	"fmt"
)

// Return puts a clone back where it stood when it was opened; the run's branch stays with all that is on it. What
// Adopt had committed lies there uncommitted again.
func (t *Tree) Return(ctx context.Context) error {
	if t.bot || t.came.ref == t.ref() {
		return nil
	}
	if err := errors.Join(t.settle(), t.guardOwn(ctx)); err != nil {
		return err
	}
	defer t.noteIndex()
	if now := t.user.at(ctx, t.came.ref); t.came.ref != "" && now != "" { // the branch may have moved since
		t.came.commit = now
	}
	if err := t.moving(t.head, t.came.commit); err != nil {
		return err
	}
	_, err := t.git.out(ctx, "read-tree", "-m", "-u", t.head, t.came.commit)
	if exit(err) > 0 { // it has touched nothing
		t.hasMoved()
	}
	if err != nil {
		return fmt.Errorf("going back to %s: %w", short(t.came.ref), err)
	}
	t.indexed = ""
	if err := t.leave(ctx); err != nil {
		return fmt.Errorf("going back to %s: %w", short(t.came.ref), err)
	}
	if err := t.layBack(ctx); err != nil {
		return err
	}
	if err := t.giveIndex(ctx); err != nil {
		return err
	}
	t.hasMoved()
	return nil
}

// leave puts the clone's HEAD where it stood when the clone was opened.
func (t *Tree) leave(ctx context.Context) (err error) {
	if t.came.ref != "" {
		_, err = t.user.door.out(ctx, "symbolic-ref", "HEAD", t.came.ref)
	} else {
		_, err = t.user.door.out(ctx, "update-ref", "--no-deref", "HEAD", t.came.commit)
	}
	return err
}
