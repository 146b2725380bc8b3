package git

import (
	"context"
	"fmt"
	"os"
)

// Retreat puts a clone back where it stood when it was opened and takes the run's branch away, when the run has made no commit on it:
// a run that could not even begin leaves nothing behind. Otherwise it does nothing.
func (t *Tree) Retreat(ctx context.Context) error {
	if t.bot || t.head != t.base || t.came.ref == t.ref() {
		return nil
	}
	if err := t.Return(ctx); err != nil {
		return err
	}
	if _, err := t.git.out(ctx, "update-ref", "-d", t.ref(), t.base); err != nil {
		return fmt.Errorf("taking the empty branch %s away: %w", t.branch, err)
	}
	return os.Remove(t.mark())
}
