package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// rebase puts our commits on top of where the remote's branch is now, in the working tree too. It returns nil when the
// branch has not moved after all.
func (t *Tree) rebase(ctx context.Context) (*Moved, error) {
	refs, err := t.origin.list(ctx, t.ref())
	if err != nil {
		return nil, err
	}
	onto, from := refs.at[t.ref()], t.pushed.branch
	switch {
	case onto == from:
		return nil, fmt.Errorf("%s did not take the branch %s: try again", cmp.Or(t.o.Remote.shown(), "the clone"), t.branch)
	case onto == "":
		return nil, &ConflictError{t.branch, "no longer exists there"}
	case from == "":
		from = t.base
	}
	if err := t.origin.fetch(ctx, "+"+t.ref()+":refs/ralph/onto"); err != nil {
		return nil, err
	}
	m := &Moved{From: t.head, Onto: onto}
	if err := t.replay(ctx, onto, from); err != nil {
		return nil, err
	}
	if t.sign != nil { // what is made again has lost its signature
		signed, err := t.signAbove(ctx, onto, t.ref())
		if err = cmp.Or(err, t.setHead(signed)); err != nil {
			return nil, err
		}
	}
	if m.Commit, err = t.between(ctx, onto, t.ref()); err != nil {
		return nil, err
	}
	m.Commit.NoDiff = m.Commit.Tree == t.baseTree
	m.Commit.Note = fmt.Sprintf("the branch had moved to %.12s; the run's commits were put on top of that",
		onto)
	t.pushed.branch, t.head, t.headTree, t.indexed = onto, m.Commit.SHA, m.Commit.Tree, m.Commit.SHA
	t.headAt = t.head
	changed, err := t.git.out(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", m.From, t.head, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the branch before and after: %w", err)
	}
	if err := t.give(records(changed)); err != nil {
		return nil, err
	}
	return m, t.handOver(ctx)
}

// replay rebases, or leaves everything as it was.
func (t *Tree) replay(ctx context.Context, onto, from string) error {
	if err := t.settle(); err != nil {
		return err
	}
	t.indexed = ""
	_, err := t.git.out(ctx, "rebase", "-q", "--no-verify", "--no-autostash", "--no-update-refs", "--no-autosquash",
		"--no-stat", "--onto", onto, from, t.branch)
	var e *commandError
	if !errors.As(err, &e) {
		return err
	}
	if _, abort := t.git.out(context.WithoutCancel(ctx), "rebase", "--abort"); abort != nil {
		t.o.log("git: %v", abort) // it had not started
	}
	return &ConflictError{t.branch, "our commits do not apply on top of that without a conflict"}
}
