package check

import (
	"context"

	"github.com/ralph-loop/ralph/internal/diffscan"
)

// changeOf is the change that a check judges; nil when there is nothing to compare.
func changeOf(ctx context.Context, c *diffscan.Changes, at Input) (*diffscan.Change, error) {
	if c == nil || at.Iteration.Commit == nil || at.State.Start.Base == "" || at.Iteration.Commit.SHA == "" {
		return nil, nil
	}
	return c.Between(ctx, at.State.Start.Base, at.Iteration.Commit.SHA)
}
