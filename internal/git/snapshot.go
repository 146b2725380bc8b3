package git

import (
	"context"
	"fmt"
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

// Review checks a snapshot out on its own. There is no repository in it.
func (s *Snapshots) Review(ctx context.Context, commit string) (*Review, error) {
	return openReview(ctx, s.clone.door, "", commit, func(*Review, string) error { return nil })
}
