package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Work is what another run has done: a commit, and the name that people know it by.
type Work struct{ Name, Commit string }

// MergeError says that two pieces of work change the same lines, so that no one but a person can put them together.
type MergeError struct {
	Names []string // whose work it is, two of them where two alone conflict
	Files []string // from the top, in order
}

func (e *MergeError) Error() string {
	return fmt.Sprintf("%s do not merge: they change the same lines of %s", safetext.AndMore(e.Names, 10),
		safetext.AndMore(e.Files, 10))
}

// mergeAll is the commit that holds a base and work of other runs: the base or one of the others where that holds
// everything, else merges on top of the base, in the order of the work. It is the same commit for the same work.
// Nothing is checked out. A *MergeError says what does not merge.
func (o *objects) mergeAll(ctx context.Context, base string, all []Work) (commit string, err error) {
	at := base
	for i, w := range all {
		if held, err := o.git.contains(ctx, at, w.Commit); err != nil || held {
			if err != nil {
				return "", err
			}
			continue
		}
		if held, err := o.git.contains(ctx, w.Commit, at); err != nil || held {
			if err != nil {
				return "", err
			}
			at = w.Commit
			continue
		}
		tree, files, err := o.mergeTrees(ctx, at, w.Commit)
		if err != nil {
			return "", err
		}
		if len(files) > 0 {
			return "", o.whichConflict(ctx, base, all[:i+1], files)
		}
		if at, err = o.commitMerge(ctx, tree, at, w); err != nil {
			return "", err
		}
	}
	return at, nil
}

// mergeTrees merges two commits without a working tree. files are those that conflict.
func (o *objects) mergeTrees(ctx context.Context, ours, theirs string) (tree string, files []string, err error) {
	out, err := o.git.out(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	if err != nil && exit(err) != 1 { // 1: they conflict
		return "", nil, fmt.Errorf("merging %.12s and %.12s: %w", ours, theirs, err)
	}
	parts := records(out)
	if len(parts) == 0 {
		return "", nil, fmt.Errorf("merging %.12s and %.12s: git answered nothing", ours, theirs)
	}
	if err == nil {
		return strings.TrimSpace(parts[0]), nil, nil
	}
	slices.Sort(parts[1:])
	if files = slices.Compact(parts[1:]); len(files) == 0 {
		return "", nil, fmt.Errorf("merging %.12s and %.12s: they conflict, and git names no file", ours, theirs)
	}
	return "", files, nil
}

// whichConflict finds out whose work the last piece conflicts with: one other, or the base, where that is enough for
// it.
func (o *objects) whichConflict(ctx context.Context, base string, all []Work, files []string) error {
	last := all[len(all)-1]
	for _, other := range append([]Work{{"the base", base}}, all[:len(all)-1]...) {
		_, both, err := o.mergeTrees(ctx, other.Commit, last.Commit)
		if err != nil {
			return err
		}
		if len(both) > 0 {
			return &MergeError{[]string{other.Name, last.Name}, both}
		}
	}
	return &MergeError{safetext.Map(all, func(w Work) string { return w.Name }), files}
}

// commitMerge makes the commit of a merge. Its time is that of the newer parent, so that it is the same commit whenever
// it is made.
func (o *objects) commitMerge(ctx context.Context, tree, at string, w Work) (string, error) {
	out, err := o.git.out(ctx, "show", "-s", "--format=%ct", at, w.Commit)
	if err != nil {
		return "", fmt.Errorf("merging %s: %w", w.Name, err)
	}
	newest := int64(0)
	for _, text := range strings.Fields(out) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			newest = max(newest, n)
		}
	}
	commit, err := o.commit(ctx, newCommit{tree: tree, parents: []string{at, w.Commit}, message: "Merge " + w.Name,
		at: time.Unix(newest, 0).UTC()})
	if err != nil {
		return "", fmt.Errorf("merging %s: %w", w.Name, err)
	}
	return commit, nil
}

// Has reports whether a commit is below another one, or is it.
func (o *objects) Has(ctx context.Context, commit, in string) bool {
	on, err := o.git.descends(ctx, commit, in)
	return err == nil && on
}
