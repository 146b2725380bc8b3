package git

import (
	"context"
	"fmt"
	"strings"
)

// Return puts a clone back where it stood when it was opened; the run's branch stays with all that is on it (S0-72). What
// Adopt had committed lies there uncommitted again.
func (t *Tree) Return(ctx context.Context) error {
	if t.bot || t.came.ref == t.ref() {
		return nil
	}
	to := []string{"checkout", "-q", "--detach", t.came.commit}
	if branch, ok := strings.CutPrefix(t.came.ref, "refs/heads/"); ok {
		to = []string{"checkout", "-q", branch}
	}
	if _, err := t.git.out(ctx, to...); err != nil {
		return fmt.Errorf("going back to %s: %w", strings.TrimPrefix(t.came.ref, "refs/heads/"), err)
	}
	return t.layBack(ctx)
}
