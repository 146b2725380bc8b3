package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Correction is what the harness takes back of an iteration, or writes itself. All paths are from the top, with
// slashes. A path of Restore or Keep that is a directory stands for everything in it.
type Correction struct {
	Since   string   // the commit whose version of the paths of Restore is put back; what it did not have is removed
	Restore []string // "ralph/tasks.json"
	// Keep puts back everything that differs from Since but these paths; nil does not.
	Keep    []string
	Write   map[string][]byte // regular files that are not executable; each wins over what is put back
	Message string
}

// Correct makes one commit of the harness's own on top of the run's newest one, and makes the working tree what that has,
// whatever was there: a link is replaced and not followed, and so is a directory in the place of a file. What no commit
// has is removed, but files that are ignored stay, also those that the agent had committed. The result is Empty, with the
// SHA that was, when the commit holds it all already. The branch moves last, so a correction that was killed on the way
// is made again.
func (t *history) Correct(ctx context.Context, c Correction) (loop.Commit, error) {
	if err := c.check(t.leaks.redactor()); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	if err := t.settle(); err != nil {
		return loop.Commit{}, err
	}
	changed, err := t.corrections(ctx, c)
	if err != nil {
		return loop.Commit{}, err
	}
	commit, tree, err := t.commitOn(ctx, t.head, t.headTree, changed, t.leaks.harmless(c.Message))
	if err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	made := loop.Commit{SHA: commit, Tree: tree, Empty: true}
	if commit != t.head {
		if made, err = t.compared(ctx, t.head, commit, tree); err != nil {
			return loop.Commit{}, err
		}
	}
	made.NoDiff = tree == t.baseTree
	return made, t.moveTo(ctx, commit, tree)
}

// check refuses what no commit may hold.
func (c Correction) check(secrets *secret.Redactor) error {
	for _, name := range slices.Concat(c.Restore, c.Keep, slices.Collect(maps.Keys(c.Write))) {
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("%q is no path from the top of the tree", name)
		}
		if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
			return fmt.Errorf("%q is git's own", name)
		}
	}
	for name, content := range c.Write {
		if s, ok := secrets.First(string(content)); ok {
			return fmt.Errorf("%s:%d would hold a secret of ralph's, %s", name, lineAt(string(content), s.From), s.As)
		}
	}
	if _, ok := secrets.First(c.Message); ok {
		return errors.New("the message would hold a secret of ralph's")
	}
	return nil
}

// corrections are the files that a correction makes different in the newest commit.
func (t *history) corrections(ctx context.Context, c Correction) (changed []entry, err error) {
	asked, kept, written := newPaths(c.Restore), newPaths(c.Keep), newPaths(slices.Collect(maps.Keys(c.Write)))
	if len(c.Restore) > 0 || c.Keep != nil {
		since, err := t.changes(ctx, "diff-tree", "-r", "--ignore-submodules=none", c.Since, t.head)
		if err != nil {
			return nil, err
		}
		for _, ch := range since {
			name := ch.was.name
			if (asked.cover(name) || c.Keep != nil && !kept.cover(name)) && !written.cover(name) && !written.below(name) {
				changed = append(changed, ch.was)
			}
		}
	}
	all, err := t.files(c.Write)
	return append(changed, all...), err
}
