package git

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// baseNow is where the base branch is kept as the remote has it.
const baseNow = "refs/ralph/base-now"

// NewestBase asks the origin for the base branch as it is now. commit is empty when the run's branch holds all of it.
func (t *Tree) NewestBase(ctx context.Context) (commit string, err error) {
	if t.origin == nil || t.baseBranch == "" {
		return "", nil
	}
	if t.seen, err = t.askForBase(ctx); err == nil {
		t.seenAt = time.Now()
	}
	return t.seen, err
}

func (t *Tree) askForBase(ctx context.Context) (commit string, err error) {
	ref := "refs/heads/" + t.baseBranch
	refs, err := t.origin.list(ctx, ref)
	now := refs.at[ref]
	if c, ok := t.origin.(*clone); ok && err == nil {
		now = cmp.Or(c.fetchRemote(ctx, t.baseBranch), now)
	}
	if err != nil || now == "" || now == t.Ground() {
		return "", err
	}
	if err := t.origin.fetch(ctx, "+"+ref+":"+baseNow); err != nil {
		return "", err
	}
	if held, err := t.git.contains(ctx, t.head, now); err != nil || held {
		return "", err
	}
	return now, nil
}

// MergedWithBase is the commit that merges one of the run's with the base branch at a commit that NewestBase has told of;
// conflicts are the files that keep it from being made. It is on no branch. The agent finds the base branch as origin/main.
func (t *Tree) MergedWithBase(ctx context.Context, commit, base string) (merged string, conflicts []string, err error) {
	if t.git.meet(ctx, commit, base) == "" {
		return "", nil, fmt.Errorf("%s has been rewritten: at %.12s it has no commit in common with the run's branch", t.baseBranch, base)
	}
	if t.baseNow != base {
		if err := t.bringModules(ctx, "", base, t.store(), 0); err != nil {
			return "", nil, err
		}
		t.baseNow = base
		if err := t.handOver(ctx); err != nil {
			return "", nil, err
		}
	}
	tree, conflicts, err := t.mergeTrees(ctx, commit, base)
	if err != nil || len(conflicts) > 0 {
		return "", conflicts, err
	}
	merged, err = t.commitMerge(ctx, tree, commit, Work{Name: t.baseBranch, Commit: base})
	return merged, nil, err
}

// BaseConflicts names the files in which the run's branch conflicts with the base branch as it was within the last
// minute; none when the two can be merged. Nothing is checked out and nothing is changed.
func (t *Tree) BaseConflicts(ctx context.Context) (files []string, err error) {
	now := t.seen
	if time.Since(t.seenAt) > time.Minute {
		now, err = t.NewestBase(ctx)
	}
	if err != nil || now == "" {
		return nil, err
	}
	if _, files, err = t.mergeTrees(ctx, t.head, now); err != nil {
		return nil, fmt.Errorf("merging %s to see whether it conflicts: %w", t.baseBranch, err)
	}
	return files, nil
}

// Merged is the commit that holds the run's base as it was before the work of others was merged onto it, and some of
// that work.
func (t *Tree) Merged(ctx context.Context, some []Work) (commit string, err error) {
	return t.mergeAll(ctx, t.Ground(), some)
}
