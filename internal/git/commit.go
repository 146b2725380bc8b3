package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Commit makes one commit of everything that changed since the commit `since`, new files too. Commits that the agent
// made itself on top of it are kept below ours. When the agent rewrote history, reset or wandered off, its commits are
// not kept but its files are, as one commit on top of since. Either way HEAD is on the run's branch afterwards. When
// nothing changed the result is Empty, with SHA since. Note tells of everything out of the ordinary.
func (t *Tree) Commit(ctx context.Context, since, message string) (loop.Commit, error) {
	c, err := t.takeUp(ctx, since, message)
	if err != nil {
		err = cmp.Or(t.origin.gone(), err)
	}
	return c, err
}

// takeUp is Commit in a repository of which something may be missing.
func (t *Tree) takeUp(ctx context.Context, since, message string) (loop.Commit, error) {
	message = t.leaks.harmless(message)
	if err := t.settle(); err != nil {
		return loop.Commit{}, err
	}
	took, err := t.take(ctx, since, message)
	if err != nil {
		return loop.Commit{}, err
	}
	notes := slices.Concat(t.told, took.notes)
	t.told = nil
	changed, more, err := t.stage(ctx, took.parent, took.steady)
	if err != nil {
		return loop.Commit{}, err
	}
	left, err := t.leavings(ctx)
	if err != nil {
		return loop.Commit{}, err
	}
	if notes = slices.Concat(notes, more, left); changed {
		if err := t.commit(ctx, took.parent, message); err != nil {
			return loop.Commit{}, err
		}
	}
	c, found, err := t.looked(ctx, since, message, changed, took)
	if err != nil {
		return loop.Commit{}, err
	}
	notes = append(notes, found.notes()...)
	notes = append(notes, t.keepModules(ctx, c)...)
	more, err = t.leftInModules(ctx, c)
	if err != nil {
		return loop.Commit{}, err
	}
	notes = append(notes, more...)
	c.Note = strings.Join(notes, "; ")
	if !c.Empty {
		if err := t.weigh(ctx, since, &c); err != nil {
			return loop.Commit{}, err
		}
	}
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

// looked is what was committed, once it holds nothing that no commit may hold.
func (t *history) looked(ctx context.Context, since, message string, changed bool, took taken) (loop.Commit, *leaks,
	error) {
	seek, none := t.leaks.search(), &leaks{}
	c, err := t.describe(ctx, since, changed, took, seek)
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

// mergedBase returns the newer commit of the base branch that a commit of the run's contains; empty if it contains none.
func (t *history) mergedBase(ctx context.Context, commit string) (string, error) {
	if t.baseNow == "" {
		return "", nil
	}
	has, err := t.git.contains(ctx, commit, t.baseNow)
	if err != nil {
		return "", fmt.Errorf("looking for the base commit %s in %s: %w", t.baseNow, commit, err)
	}
	if !has {
		return "", nil
	}
	return t.baseNow, nil
}

// commit commits the index on top of parent.
func (t *history) commit(ctx context.Context, parent, message string) error {
	tree, err := t.git.out(ctx, "write-tree")
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	id, err := t.objects.commit(ctx, newCommit{tree: strings.TrimSpace(tree), parents: []string{parent}, message: message})
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return t.setHead(id)
}

// describe says what the commits from since to HEAD changed, and lets seek read all of it.
func (t *history) describe(ctx context.Context, since string, changed bool, took taken, seek *search) (c loop.Commit,
	err error) {
	if !changed && took.parent == since {
		tree := t.headTree
		if t.head != since {
			if tree, err = t.TreeOf(ctx, since); err != nil {
				return c, err
			}
		}
		return loop.Commit{SHA: since, Tree: tree, Empty: true}, nil
	}
	if took.parent == since { // ours alone: one command tells all
		head := &beginning{rest: seek}
		_, _, err := t.git.run(ctx, call{out: head,
			args: []string{"show", "-z", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color",
				"--numstat", "-p", "--text", "-U0", "--no-renames", "--format=%H %T", "HEAD", "--"}})
		id, stats, _ := strings.Cut(head.String(), "\x00")
		if err != nil {
			return loop.Commit{}, fmt.Errorf("reading the new commit: %w", err)
		}
		return described(strings.Fields(id), stats)
	}
	if err := t.seekThrough(ctx, since, seek); err != nil {
		return loop.Commit{}, err
	}
	return t.between(ctx, since, "HEAD")
}

// stage makes the index what the working tree is, and reports whether that differs from the commit that HEAD is at now.
func (t *checkout) stage(ctx context.Context, parent string, steady bool) (changed bool, notes []string, err error) {
	told, said, err := t.add(ctx, "-A", "-v", "--sparse")
	if exit(err) > 0 || strings.Contains(said, "embedded git repository") {
		notes, err = t.stageHard(ctx)
		steady = false
	}
	if err != nil {
		return false, notes, fmt.Errorf("staging what changed: %w", err)
	}
	if steady && t.indexed == parent { // the index had been at the commit, so what was added is the change
		t.indexed = ""
		return told != "", notes, nil
	}
	t.indexed = ""
	_, err = t.git.out(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", parent)
	if exit(err) == 1 {
		return true, notes, nil
	}
	return false, notes, err
}

// add runs git add on everything but the submodules.
func (t *checkout) add(ctx context.Context, options ...string) (stdout, stderr string, err error) {
	specs := []string{":(top)"}
	for name := range t.links {
		if info, err := os.Lstat(filepath.Join(t.work, name)); err == nil && info.IsDir() {
			specs = append(specs, ":(top,literal,exclude)"+name)
		}
	}
	return t.git.run(ctx, call{in: joined(specs), args: append([]string{"add"},
		append(options, "--pathspec-from-file=-", "--pathspec-file-nul")...)})
}

// stageHard stages a tree that git add refuses as it is: one with repositories in it, whose files would be lost behind
// a link that no one can follow, or with something that git cannot store.
func (t *checkout) stageHard(ctx context.Context) (notes []string, err error) {
	if err := t.dropLinks(ctx); err != nil {
		return nil, err
	}
	nested, err := t.nested(ctx)
	if err != nil {
		return nil, err
	}
	linked, nested := t.linkedWorktrees(nested)
	if len(linked) > 0 {
		notes = append(notes, strings.Join(linked, ", ")+": a working tree of the same repository; what is there is not in "+
			"the run's commit, but on its branch as far as it was committed")
	}
	if err := t.leaveOut(linked); err != nil {
		return notes, err
	}
	show, err := t.hideRepositories(nested)
	if err != nil {
		return notes, err
	}
	_, said, err := t.add(ctx, "-A", "--sparse", "--ignore-errors")
	if exit(err) > 0 {
		notes, err = append(notes, "not everything could be committed: "+lastLine(said)), nil
	}
	if err = errors.Join(err, show()); err != nil || len(nested) == 0 {
		return notes, err
	}
	had, empty, err := t.withoutFiles(ctx, nested)
	if len(had) > 0 {
		notes = append(notes, fmt.Sprintf(
			"%s: a repository of the agent's own; its files were committed, its history was not", strings.Join(had, ", ")))
	}
	if len(empty) > 0 {
		notes = append(notes, strings.Join(empty, ", ")+": a repository without files to commit; its .git was removed")
	}
	return notes, err
}

// hiddenGit is what the .git of a repository in the tree is called while its files are added.
const hiddenGit = ".git.ralph"

// hideRepositories makes repositories in the tree plain directories to git, until show is called. Those that have files
// in the index then stay so.
func (t *checkout) hideRepositories(all []string) (show func() error, err error) {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var hidden []string
	for _, name := range all {
		_ = fs.WalkDir(root.FS(), name, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != ".git" {
				return nil //nolint:nilerr // what cannot be read is not committed, which git says
			}
			to := path.Join(path.Dir(at), hiddenGit)
			if root.RemoveAll(to) == nil && root.Rename(at, to) == nil {
				hidden = append(hidden, path.Dir(at))
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		})
	}
	return func() error {
		root, err := os.OpenRoot(t.work)
		if err != nil {
			return err
		}
		defer root.Close()
		for _, dir := range hidden {
			err = errors.Join(err, root.Rename(path.Join(dir, hiddenGit), path.Join(dir, ".git")))
		}
		return err
	}, nil
}

// linkedWorktrees parts the repositories in the tree: those that are working trees of the very same one, which git
// worktree has made, and others.
func (t *checkout) linkedWorktrees(all []string) (linked, other []string) {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return nil, all
	}
	defer root.Close()
	dir := filepath.Join(t.work, ".git", "worktrees")
	for _, name := range all {
		line, err := firstLine(root, filepath.Join(name, ".git"))
		if to, ok := strings.CutPrefix(line, "gitdir: "); err == nil && ok && filepath.Dir(filepath.Clean(to)) == dir {
			linked = append(linked, name)
		} else {
			other = append(other, name)
		}
	}
	return linked, other
}

// nested lists the repositories in the tree that are no submodules.
func (t *checkout) nested(ctx context.Context) (found []string, err error) {
	names, err := t.git.untracked(ctx)
	for _, name := range names {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			found = append(found, dir)
		}
	}
	return found, err
}

// withoutFiles parts repositories in the tree whose files were added: those that had any, and others, which become plain
// directories.
func (t *checkout) withoutFiles(ctx context.Context, all []string) (had, empty []string, err error) {
	if empty, err = t.nested(ctx); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, name := range empty {
		if err := root.RemoveAll(filepath.Join(name, ".git")); err != nil {
			return nil, nil, fmt.Errorf("removing a repository without files: %w", err)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(empty, name) }), empty, nil
}

// dropLinks takes from the index the links to repositories that are no submodules: new ones, which .gitmodules does not
// name.
func (t *checkout) dropLinks(ctx context.Context) error {
	before := t.links
	if err := t.findLinks(ctx); err != nil {
		return err
	}
	var drop []string
	for name := range t.links {
		if !before[name] && !t.isSubmodule(name) {
			drop = append(drop, name)
			delete(t.links, name)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	_, _, err := t.git.run(ctx, call{args: []string{"update-index", "-z", "--force-remove", "--stdin"}, in: joined(drop)})
	if err != nil {
		return fmt.Errorf("taking links out of the index: %w", err)
	}
	return nil
}

// isSubmodule reports whether the tree's .gitmodules names a path.
func (t *checkout) isSubmodule(name string) bool {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return false
	}
	defer root.Close()
	text, _ := smallFile(root, ".gitmodules") // none: no submodules
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "path" && strings.Trim(strings.TrimSpace(value), `"`) == name {
			return true
		}
	}
	return false
}
