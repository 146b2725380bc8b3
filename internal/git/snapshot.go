package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Snapshots are commits of a clone's working tree that no branch and no index of the user's knows of: what a reviewer
// looks at in a run that commits nothing. git forgets them in time.
type Snapshots struct {
	clone *Clone
	base  loop.Commit // the tree as it was when the run began
	last  loop.Commit
}

// Snapshots begins with what is in the working tree now.
func (c *Clone) Snapshots(ctx context.Context) (*Snapshots, error) {
	s := &Snapshots{clone: c}
	var err error
	s.base, err = s.take(ctx, "")
	s.last = s.base
	return s, err
}

// Base is what was there when the run began.
func (s *Snapshots) Base() string { return s.base.SHA }

// Commit implements loop.Tree.
func (s *Snapshots) Commit(ctx context.Context, _ string, _ loop.State) (loop.Commit, error) {
	now, err := s.take(ctx, s.last.SHA)
	if err != nil {
		return loop.Commit{}, err
	}
	now.Empty, now.NoDiff = now.Tree == s.last.Tree, now.Tree == s.base.Tree
	s.last = now
	return now, nil
}

// take makes a commit of every file that git does not ignore, by an index of its own.
func (s *Snapshots) take(ctx context.Context, parent string) (loop.Commit, error) {
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return loop.Commit{}, err
	}
	defer remove()
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, _, err := s.clone.door.run(ctx, call{env: own, args: []string{"add", "--all", ":/"}}); err != nil {
		return loop.Commit{}, fmt.Errorf("taking a snapshot of the working tree: %w", err)
	}
	tree, _, err := s.clone.door.run(ctx, call{env: own, args: []string{"write-tree"}})
	if err != nil {
		return loop.Commit{}, fmt.Errorf("taking a snapshot of the working tree: %w", err)
	}
	tree = strings.TrimSpace(tree)
	args := []string{"commit-tree", tree, "-m", "ralph: a snapshot for a review"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	commit, _, err := s.clone.door.run(ctx, call{env: identity(Identity{"ralph", "ralph@localhost"}), args: args})
	if err != nil {
		return loop.Commit{}, fmt.Errorf("taking a snapshot of the working tree: %w", err)
	}
	if parent == "" {
		parent = strings.TrimSpace(commit)
	}
	return (&objects{git: s.clone.door}).between(ctx, parent, strings.TrimSpace(commit))
}

// Diff is the change between two snapshots, at most so many bytes of it.
func (s *Snapshots) Diff(ctx context.Context, from, to string, most int) (string, error) {
	return (&objects{git: s.clone.door}).Diff(ctx, from, to, most)
}

// Copy is a snapshot's files on their own, for a reviewer: no one may write them, and they are thrown away afterwards.
type Copy struct {
	dir    string
	before snapshotOf
	remove func()
}

// Review checks a snapshot out on its own.
func (s *Snapshots) Review(ctx context.Context, commit string) (*Copy, error) {
	held, remove, err := proc.TempDir("")
	if err != nil {
		return nil, fmt.Errorf("making a checkout for the review: %w", err)
	}
	dir, index := filepath.Join(held, "review"), filepath.Join(held, "index")
	c := &Copy{dir: dir, remove: remove}
	if err := errors.Join(os.Chmod(held, 0o711), os.Mkdir(dir, 0o700)); err != nil {
		return nil, errors.Join(fmt.Errorf("making a checkout for the review: %w", err), c.Close())
	}
	_, _, err = s.clone.door.run(ctx, call{
		args: []string{"read-tree", "--reset", "-u", "--no-sparse-checkout", commit},
		env:  []string{"GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + index}})
	if err == nil {
		err = chmod(dir, 0o555, 0o444)
	}
	if err == nil {
		c.before, err = look(dir, "")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a checkout for the review: %w", err), c.Close())
	}
	return c, nil
}

// Dir is the checkout.
func (c *Copy) Dir() string { return c.dir }

// Env is nothing: there is no repository in it.
func (c *Copy) Env() []string { return nil }

// Untouched reports whether the reviewer left every file as it was; else what did not stay.
func (c *Copy) Untouched(context.Context) (ok bool, what string, err error) {
	now, err := look(c.dir, "")
	if err != nil {
		return false, "", fmt.Errorf("looking through the review's checkout: %w", err)
	}
	changed := c.before.changes(now)
	if len(changed) == 0 {
		return true, "", nil
	}
	return false, "the reviewer changed " + strings.Join(changed[:min(len(changed), 5)], ", "), nil
}

// Close removes the checkout.
func (c *Copy) Close() error {
	c.remove()
	return nil
}
