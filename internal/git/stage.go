package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stage makes the index what the working tree is, and reports whether that differs from the commit that HEAD is at now.
func (t *Tree) stage(ctx context.Context, took taken) (changed bool, notes []string, err error) {
	told, said, err := t.add(ctx, "", nil, "-A", "-v", "--sparse")
	if exit(err) > 0 || strings.Contains(said, "embedded git repository") {
		notes, err = t.stageHard(ctx)
		took.steady = false
	}
	if err != nil {
		return false, notes, fmt.Errorf("staging what changed: %w", err)
	}
	if took.steady && t.indexed == took.parent { // the index had been at the commit, so what was added is the change
		t.indexed = ""
		return told != "", notes, nil
	}
	t.indexed = ""
	_, err = t.git.out(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", took.parent)
	if exit(err) == 1 {
		return true, notes, nil
	}
	return false, notes, err
}

// add runs git add on everything but the submodules. In another working tree it takes only the names below.
func (t *Tree) add(ctx context.Context, tree string, only []string, options ...string) (stdout, stderr string,
	err error) {
	specs := []string{":(top)"}
	if only != nil {
		specs = nil
		for _, name := range only {
			specs = append(specs, ":(top,literal)"+name)
		}
	}
	for name := range t.links {
		if info, err := os.Lstat(filepath.Join(t.work, name)); err == nil && info.IsDir() {
			specs = append(specs, ":(top,literal,exclude)"+name)
		}
	}
	c := call{in: joined(specs), args: append([]string{"add"},
		append(options, "--pathspec-from-file=-", "--pathspec-file-nul")...)}
	if tree != "" {
		c.env = []string{"GIT_WORK_TREE=" + tree}
	}
	return t.git.run(ctx, c)
}

// stageHard stages a tree that git add refuses as it is: one with repositories in it, whose files would be lost behind
// a link that nobody can follow, or with something that git cannot store.
func (t *Tree) stageHard(ctx context.Context) (notes []string, err error) {
	if err := t.dropLinks(ctx); err != nil {
		return nil, err
	}
	names, err := t.untracked(ctx)
	if err != nil {
		return nil, err
	}
	var nested []string
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			nested = append(nested, strings.TrimSuffix(name, "/"))
		}
	}
	linked, nested := t.linkedWorktrees(nested)
	if len(linked) > 0 {
		notes = append(notes, strings.Join(linked, ", ")+": a working tree of the same repository; what is there is not in "+
			"the run's commit, but on its branch as far as it was committed")
	}
	if err := t.leaveOut(linked); err != nil {
		return notes, err
	}
	for _, name := range nested { // not to be looked into as repositories, as long as they are no plain directories to git
		t.links[name] = true
	}
	_, said, err := t.add(ctx, "", nil, "-A", "--sparse", "--ignore-errors")
	for _, name := range nested {
		delete(t.links, name)
	}
	if exit(err) > 0 {
		notes, err = append(notes, "not everything could be committed: "+lastLine(said)), nil
	}
	if err != nil || len(nested) == 0 {
		return notes, err
	}
	had, err := t.addNested(ctx, nested)
	if len(had) > 0 {
		notes = append(notes, fmt.Sprintf(
			"%s: a repository of the agent's own; its files were committed, its history was not", strings.Join(had, ", ")))
	}
	return notes, err
}

// linkedWorktrees parts the repositories in the tree: those that are working trees of the very same one, which git
// worktree has made, and others.
func (t *Tree) linkedWorktrees(all []string) (linked, other []string) {
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

// addNested adds the files of repositories in the tree, from a copy that has no .git, and returns which of them had
// any. From then on they are plain directories to git.
func (t *Tree) addNested(ctx context.Context, nested []string) (had []string, err error) {
	tmp, err := os.MkdirTemp(t.scratch(), "nested-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	for _, name := range nested {
		any, err := copyTree(t.work, tmp, name)
		if err != nil {
			return had, fmt.Errorf("copying %s: %w", name, err)
		}
		if any {
			had = append(had, name)
		}
	}
	if len(had) == 0 {
		return nil, nil
	}
	_, _, err = t.add(ctx, tmp, had, "--ignore-errors")
	return had, ignore(err)
}

// dropLinks takes from the index the links to repositories that are no submodules: new ones, which .gitmodules does not
// name.
func (t *Tree) dropLinks(ctx context.Context) error {
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
func (t *Tree) isSubmodule(name string) bool {
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
