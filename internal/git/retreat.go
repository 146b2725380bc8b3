package git

import (
	"context"
	"fmt"
	"os"
)

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
