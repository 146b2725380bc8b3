package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
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

// Correct makes one commit of the harness's own on top of the run's newest one. Index, working tree and HEAD agree on
// the corrected paths afterwards, whatever was there: a link is replaced and not followed, and so is a directory in
// the place of a file. Nothing else in the working tree is touched, and files of the user's stay even where the agent
// had committed them. The result is Empty, with the SHA that was, when the commit holds it all already. The branch
// moves last: whoever is killed on the way corrects again.
func (t *Tree) Correct(ctx context.Context, c Correction) (loop.Commit, error) {
	if err := c.check(t.leaks.redactor()); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	c.Message = t.leaks.harmless(c.Message)
	if err := t.settle(); err != nil {
		return loop.Commit{}, err
	}
	puts, gone, err := t.corrections(ctx, c)
	if err != nil {
		return loop.Commit{}, err
	}
	commit, tree, err := t.commitOn(ctx, t.head, t.headTree, slices.Concat(removals(gone), puts), c.Message)
	if err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	steady := t.indexed == t.head
	t.indexed = ""
	if err := t.git.putInIndex(ctx, puts, gone); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the index: %w", err)
	}
	if err := t.layDown(ctx, puts, gone); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the working tree: %w", err)
	}
	if err := t.setHead(commit); err != nil {
		return loop.Commit{}, err
	}
	if steady {
		t.indexed = commit
	}
	if commit == t.head {
		return loop.Commit{SHA: commit, Tree: tree, Empty: true, NoDiff: tree == t.baseTree}, t.handOver(ctx)
	}
	made, err := t.compared(ctx, t.head, commit, tree)
	if err != nil {
		return loop.Commit{}, err
	}
	made.NoDiff = tree == t.baseTree
	t.head, t.headTree = made.SHA, made.Tree
	if err := t.handOver(ctx); err != nil {
		return loop.Commit{}, fmt.Errorf("handing the tree back to the agent: %w", err)
	}
	return made, nil
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

// corrections are the entries that a correction puts into the newest commit, and the names that it takes out.
func (t *Tree) corrections(ctx context.Context, c Correction) (puts, gone []entry, err error) {
	changed, err := t.toPutBack(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	asked, kept, written := newPaths(c.Restore), newPaths(c.Keep), newPaths(slices.Collect(maps.Keys(c.Write)))
	for _, ch := range changed {
		name := ch.was.name
		switch {
		case !asked.cover(name) && (c.Keep == nil || kept.cover(name)):
		case written.cover(name):
			gone = append(gone, ch.is)
		case ch.was.mode == missing:
			gone = append(gone, ch.is)
		case !written.below(name): // a file in the place of a directory that is written into
			puts = append(puts, ch.was)
		}
	}
	gone = slices.DeleteFunc(gone, func(e entry) bool { return e.mode == missing || written.names[e.name] })
	all, err := t.files(c.Write)
	return append(puts, all...), gone, err
}

// removals are entries that a tree must not have.
func removals(gone []entry) (all []entry) {
	for _, e := range gone {
		all = append(all, entry{missing, e.id, e.name})
	}
	return all
}

// paths are names of files and directories.
type paths struct{ names, above map[string]bool }

func newPaths(names []string) paths {
	p := paths{map[string]bool{}, map[string]bool{}}
	for _, name := range names {
		p.names[name] = true
		for at := path.Dir(name); at != "." && !p.above[at]; at = path.Dir(at) {
			p.above[at] = true
		}
	}
	return p
}

// cover reports whether a path is one of these or in one.
func (p paths) cover(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if p.names[name] {
			return true
		}
	}
	return false
}

// below reports whether one of these is in what the path names.
func (p paths) below(name string) bool { return p.above[name] }

// toPutBack is what the newest commit has otherwise than the correction's, and what the working tree has otherwise than
// the newest commit: git may not have been able to commit it, or someone was killed on the way.
func (t *Tree) toPutBack(ctx context.Context, c Correction) ([]change, error) {
	if len(c.Restore) == 0 && c.Keep == nil {
		return nil, nil
	}
	changed, err := t.changes(ctx, "diff-tree", "-r", "--ignore-submodules=none", c.Since, t.head)
	if err != nil {
		return nil, err
	}
	lying, err := t.changes(ctx, "diff-index", "--ignore-submodules=all", t.head)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, ch := range changed {
		known[ch.was.name] = true
	}
	for _, ch := range lying {
		if !known[ch.was.name] {
			changed = append(changed, ch)
		}
	}
	return changed, nil
}

// putInIndex makes the index hold entries, and others not. A directory gives way to a file of its name, and a file to a
// directory.
func (d door) putInIndex(ctx context.Context, puts, gone []entry) error {
	if len(puts)+len(gone) == 0 {
		return nil
	}
	var in strings.Builder
	for _, e := range slices.Concat(removals(gone), puts) {
		fmt.Fprintf(&in, "%s %s\t%s\x00", e.mode, e.id, e.name)
	}
	_, _, err := d.run(ctx, call{in: strings.NewReader(in.String()), args: []string{"update-index", "-z", "--index-info"}})
	return err
}
