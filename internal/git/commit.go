package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Commit makes one commit of everything that changed since the commit `since`, new files too. Commits that the agent
// made itself on top of it are kept below ours. When the agent rewrote history, reset or wandered off, its commits are
// not kept but its files are, as one commit on top of since. Either way HEAD is on the run's branch afterwards. When
// nothing changed the result is Empty, with SHA since. Note lists everything out of the ordinary.
func (t *Tree) Commit(ctx context.Context, since, message string) (loop.Commit, error) {
	message = t.leaks.harmless(message)
	if err := t.settle(); err != nil {
		return loop.Commit{}, err
	}
	took, err := t.take(ctx, since, message)
	if err != nil {
		return loop.Commit{}, err
	}
	told := slices.Concat(t.told, took.notes)
	t.told = nil
	changed, notes, err := t.stage(ctx, took.parent, took.steady)
	if err != nil {
		return loop.Commit{}, err
	}
	var ours []string
	if changed {
		if ours, err = t.commit(ctx, took.parent, message); err != nil {
			return loop.Commit{}, err
		}
	}
	c, found, err := t.looked(ctx, since, message, took, ours)
	if err != nil {
		return loop.Commit{}, err
	}
	notes = slices.Concat(told, notes, found.notes(), t.keepModules(ctx, c))
	left, err := t.leftInModules(ctx, c)
	if err != nil {
		return loop.Commit{}, err
	}
	var large []string
	if !c.Empty {
		if large, err = t.weigh(ctx, since, &c); err != nil {
			return loop.Commit{}, err
		}
	}
	c.Note = strings.Join(slices.Concat(notes, left, large), "; ")
	if c.Base, err = t.mergedBase(ctx, c.SHA); err != nil {
		return loop.Commit{}, err
	}
	c.NoDiff = c.Tree == t.baseTree
	if t.head, t.headTree, t.indexed = c.SHA, c.Tree, c.SHA; found.any() { // the checks must see what is committed
		return c, t.moveTo(ctx, c.SHA, c.Tree)
	}
	if err := t.handOver(ctx); err != nil {
		return loop.Commit{}, fmt.Errorf("handing the tree back to the agent: %w", err)
	}
	return c, nil
}

// looked is what was committed, once it holds nothing that no commit may hold. ours is our commit and its tree, if any.
func (t *history) looked(ctx context.Context, since, message string, took taken, ours []string) (loop.Commit, *leaks, error) {
	seek, none := t.leaks.search(), &leaks{}
	c, err := t.describe(ctx, since, took, ours, seek)
	if err != nil || !seek.suspects() {
		return c, none, err
	}
	from := since
	base, err := t.mergedBase(ctx, c.SHA)
	before, errBefore := t.mergedBase(ctx, since)
	if err := errors.Join(err, errBefore); err != nil {
		return c, none, err
	}
	if base != "" && before == "" {
		from = base // what came with it is no change of the run's
	}
	found, err := t.leaks.leaksIn(ctx, &t.objects, from, c.SHA)
	if err != nil || !found.any() {
		return c, none, err
	}
	c, err = t.withhold(ctx, since, c, message, found)
	return c, found, err
}

// commit commits the index on top of parent. ids are the commit and its tree.
func (t *history) commit(ctx context.Context, parent, message string) (ids []string, err error) {
	tree, err := t.git.out(ctx, "write-tree")
	if err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	tree = strings.TrimSpace(tree)
	id, err := t.objects.commit(ctx, newCommit{tree: tree, parents: []string{parent}, message: message})
	if err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	return []string{id, tree}, t.setHead(id)
}

// describe says what the commits from since to HEAD changed, and lets seek read all of it.
func (t *history) describe(ctx context.Context, since string, took taken, ours []string, seek *search) (c loop.Commit,
	err error) {
	if ours == nil && took.parent == since {
		tree := t.headTree
		if t.head != since {
			if tree, err = t.TreeOf(ctx, since); err != nil {
				return c, err
			}
		}
		return loop.Commit{SHA: since, Tree: tree, Empty: true}, nil
	}
	if err := t.seekThrough(ctx, since, seek); err != nil {
		return loop.Commit{}, err
	}
	if ours == nil {
		return t.between(ctx, since, "HEAD")
	}
	return t.compared(ctx, since, ours...)
}

// withhold makes the commits from since to one again, as one without what no commit may hold: what is committed is
// pushed. Files that hold a secret of the harness's are left out of it; what looks like a credential is taken out of
// its file. It fails when that does not help, and then nothing is committed.
func (t *history) withhold(ctx context.Context, since string, c loop.Commit, message string, found *leaks) (loop.Commit, error) {
	before, err := t.TreeOf(ctx, since)
	if err != nil {
		return c, err
	}
	without := Overlay{From: since, Names: slices.Collect(maps.Keys(found.files)), Contents: found.marked}
	changed, err := t.overlay(ctx, c.SHA, without)
	made := newCommit{parents: []string{since}, message: message}
	if err == nil {
		made.tree, err = t.tree(ctx, c.SHA, changed)
	}
	id := since
	if err == nil && made.tree != before {
		id, err = t.objects.commit(ctx, made)
	}
	if err != nil {
		return c, fmt.Errorf("committing without a secret: %w", err)
	}
	if c, err = t.between(ctx, since, id); err != nil {
		return c, err
	}
	c.Empty = c.SHA == since
	left, err := t.leaks.leaksIn(ctx, &t.objects, since, c.SHA)
	if err == nil && left.any() {
		err = errors.New("the commit still holds a secret without what was left out: " + strings.Join(left.notes(), "; "))
	}
	return c, err
}
