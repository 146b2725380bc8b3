package git

import (
	"context"
	"errors"
	"fmt"
)

// baseNow is where the base branch is kept as the remote has it at the end of a run.
const baseNow = "refs/ralph/base-now"

// BaseConflicts asks the remote for the base branch as it is now, and names the files in which the run's branch
// conflicts with it; none when the two can be merged. Nothing is checked out and nothing is changed.
func (t *Tree) BaseConflicts(ctx context.Context) (files []string, err error) {
	if t.o.Remote.URL == "" || t.baseBranch == "" {
		return nil, nil
	}
	if err := t.git.fetch(ctx, t.o.Remote, nil, "+refs/heads/"+t.baseBranch+":"+baseNow); err != nil {
		return nil, err
	}
	_, err = t.git.out(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", t.head, baseNow)
	const conflict = 1
	var e *commandError
	switch code := exit(err); {
	case err == nil:
		return nil, nil
	case !errors.As(err, &e) || code != conflict:
		return nil, fmt.Errorf("merging %s to see whether it conflicts: %w", t.baseBranch, err)
	}
	if all := records(e.Stdout); len(all) > 1 { // the first is the tree
		files = all[1:]
	}
	return files, nil
}
