package git

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// Clean names the tracked files that are not as the newest commit has them; none when the tree is clean.
func (t *history) Clean(ctx context.Context) (dirty []string, err error) {
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
func (t *history) Restore(ctx context.Context) error {
	dirty, err := t.Clean(ctx)
	if err != nil {
		return err
	}
	return t.restore(ctx, dirty)
}

// restore is Restore for what Clean has just named: no other file is written.
func (t *history) restore(ctx context.Context, dirty []string) error {
	if err := t.lay(ctx, t.head, len(dirty) > 0); err != nil {
		return err
	}
	t.indexed = t.head
	return errors.Join(t.setHead(t.head), t.handOver(ctx))
}

// moveTo puts the working tree, the index and the run's branch on another commit.
func (t *history) moveTo(ctx context.Context, commit, tree string) error {
	err := t.lay(ctx, commit, true)
	if err == nil {
		err = t.setHead(commit)
	}
	if err != nil {
		return err
	}
	t.head, t.headTree, t.indexed = commit, tree, commit
	return errors.Join(t.findLinks(ctx), t.handOver(ctx))
}

// lay makes the index and the working tree what a commit or a tree has. What differs there is only examined if the
// working tree may differ. Files that say how others are written, or which are left alone, are right before those are.
func (t *checkout) lay(ctx context.Context, what string, differs bool) error {
	t.indexed = ""
	_, err := t.git.out(ctx, "read-tree", "--reset", what)
	changed := ""
	if err == nil && differs {
		changed, err = t.git.out(ctx, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
	}
	names := records(changed)
	first, rest := parted(names, func(name string) bool {
		return path.Base(name) == ".gitattributes" || path.Base(name) == ".gitignore"
	})
	if err == nil {
		err = t.git.writeAgain(ctx, first)
	}
	if err == nil {
		if err := t.git.clean(ctx); err != nil {
			t.o.log("git: not everything could be removed: %v", err)
		}
		err = t.git.writeAgain(ctx, rest)
	}
	if err != nil {
		return fmt.Errorf("making the tree what %.12s has: %w", what, err)
	}
	return t.give(names)
}

// writeAgain writes files as the index has them.
func (d door) writeAgain(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, _, err := d.run(ctx, call{in: joined(names),
		args: []string{"checkout-index", "-f", "-u", "-q", "-z", "--stdin"}})
	return err
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
