package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A fresh run leaves the branch of the run before, and with it what is the run's own: its plan may be nowhere else. It
// comes along as it lies.

// ownToCarry is the commit that holds what a fresh run takes along, "" for nothing. What is not committed of it is
// committed first, on the branch that is about to be set aside, so that nothing of it can be lost.
func (t *Tree) ownToCarry(ctx context.Context) (commit string, err error) {
	t.owes = len(t.o.Own) > 0 && !t.bot
	if t.bot || !t.o.Fresh || len(t.o.Own) == 0 || t.came.ref != t.ref() || t.theirs {
		return "", nil
	}
	names, err := t.uncommitted(ctx, t.o.Own)
	if err != nil || len(names) == 0 {
		return t.came.commit, err
	}
	dir, err := os.MkdirTemp(t.scratch(), "carry-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	commit, err = t.commitFiles(ctx, []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}, t.came.commit, names,
		"ralph: what was not committed before a fresh run\n")
	if err == nil {
		err = t.update(ctx, nil, names)
	}
	if err != nil {
		return "", fmt.Errorf("keeping what is not committed: %w", err)
	}
	return commit, errors.Join(t.stand(ctx, commit), t.handBack(ctx, commit))
}

// carry lays what is the run's own down as a commit has it, for Adopt to take it up.
func (t *Tree) carry(ctx context.Context, commit string) error {
	if commit == "" {
		return nil
	}
	if err := t.lay(ctx, commit, t.head, t.owns); err != nil {
		return fmt.Errorf("taking along what is the run's own: %w", err)
	}
	return nil
}

// layAll makes index and working tree, which are at a commit, what another one has.
func (t *Tree) layAll(ctx context.Context, as, at string) error {
	return t.lay(ctx, as, at, func(string) bool { return true })
}

// lay does so for some paths.
func (t *Tree) lay(ctx context.Context, as, at string, which func(name string) bool) error {
	if as == at {
		return nil
	}
	changed, err := t.changes(ctx, "diff-tree", "-r", "--ignore-submodules=none", as, at)
	if err != nil {
		return err
	}
	var puts, gone []entry
	for _, ch := range changed {
		switch {
		case !which(ch.was.name):
		case ch.was.mode == missing:
			gone = append(gone, ch.is)
		default:
			puts = append(puts, ch.was)
		}
	}
	if err := t.inIndex(ctx, nil, puts, gone); err != nil {
		return err
	}
	return t.layDown(ctx, puts, gone)
}

// layBack makes what Adopt had committed lie there uncommitted, in a clone that has gone back to where it came from.
func (t *Tree) layBack(ctx context.Context) error {
	a := t.adopted
	if a.commit == a.from {
		return nil
	}
	if err := t.lay(ctx, a.commit, t.came.commit, t.owns); err != nil {
		return fmt.Errorf("putting back what was not committed: %w", err)
	}
	if err := t.unstage(ctx, a); err != nil {
		return fmt.Errorf("putting back what was not committed: %w", err)
	}
	return nil
}
