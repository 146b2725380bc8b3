package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// stage makes the index what the working tree is, and reports whether that differs from the commit that HEAD is at now.
func (t *checkout) stage(ctx context.Context, parent string, steady bool) (changed bool, notes []string, err error) {
	steady = steady && t.indexed == parent
	t.indexed = ""
	told, said, err := t.add(ctx, "-A", "-v", "--sparse")
	if exit(err) > 0 || strings.Contains(said, "embedded git repository") {
		notes, err = t.stageHard(ctx)
		steady = false
	}
	if err != nil {
		return false, notes, fmt.Errorf("staging what changed: %w", err)
	}
	if steady { // the index had been at the commit, so what was added is the change
		return told != "", notes, nil
	}
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
	linked, nested, err := t.lookInto(ctx)
	if err != nil {
		return nil, err
	}
	if len(linked) > 0 {
		notes = append(notes, strings.Join(linked, ", ")+": a working tree of the same repository; what is there is not in "+
			"the run's commit, but on its branch as far as it was committed")
	}
	_, said, err := t.add(ctx, "-A", "--sparse", "--ignore-errors")
	if exit(err) > 0 {
		notes, err = append(notes, "not everything could be committed: "+lastLine(said)), nil
	}
	if err != nil || len(nested) == 0 {
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

// lookInto makes git add look into the repositories in the tree, as it does into each directory that the index has a
// file of: it is given one, which does not exist, so that git add takes it out again. Working trees of the run's own
// repository, which are linked, are left out.
func (t *checkout) lookInto(ctx context.Context) (linked, nested []string, err error) {
	id, err := t.put("blob", nil)
	for err == nil {
		var found []string
		if found, err = t.nested(ctx); err != nil {
			break
		}
		more, found := t.linkedWorktrees(found)
		linked = append(linked, more...)
		if err = t.leaveOut(more); err != nil {
			break
		}
		var files []string
		for _, name := range found {
			if !slices.Contains(nested, name) {
				nested = append(nested, name)
				files = append(files, regularFile+" "+id+"\t"+name+"/.ralph-looks-here")
			}
		}
		if len(files) == 0 { // those hold no other
			break
		}
		_, _, err = t.git.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, in: joined(files)})
	}
	return linked, nested, err
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
	text, _ := files.ReadIn(root, ".gitmodules", mostFile) // none: no submodules
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "path" && strings.Trim(strings.TrimSpace(value), `"`) == name {
			return true
		}
	}
	return false
}

// leftOut begins what the harness adds to the run's list of excluded files.
const leftOut = "# working trees of the agent's own\n"

// leaveOut keeps directories of the working tree out of every commit, and out of what is removed.
func (t *checkout) leaveOut(names []string) error {
	if len(names) == 0 {
		return nil
	}
	list := string(readQuietly(t.o.excludes()))
	if !strings.Contains(list, leftOut) {
		list += leftOut
	}
	for _, name := range names {
		list += pattern(name) + "/\n"
	}
	if err := files.Put(t.o.excludes(), []byte(list), 0o644); err != nil {
		return fmt.Errorf("writing the run's list of excluded files: %w", err)
	}
	return nil
}

// pattern is a line of a list of excluded files that matches one path and no other.
func pattern(name string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "\n", "?").Replace(name)
}

// untracked lists files that are neither tracked nor ignored. A repository in the tree is one entry that ends with a
// slash.
func (d door) untracked(ctx context.Context) ([]string, error) {
	out, err := d.out(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	return records(out), err
}

// indexAs makes our index what a commit has. The agent may have committed what is ignored: the index must have it, or
// our commit would take it out again. "" leaves the index.
func (t *checkout) indexAs(ctx context.Context, commit string) error {
	if commit == "" || t.indexed == commit {
		return nil
	}
	t.indexed = ""
	_, err := t.git.out(ctx, "read-tree", "--reset", commit)
	if err != nil {
		return fmt.Errorf("reading the agent's commits: %w", err)
	}
	return t.dropLinks(ctx)
}

// treesOf are the tree of our index and that of a commit.
func (t *checkout) treesOf(ctx context.Context, commit string) (index, of string, err error) {
	if index, err = t.git.out(ctx, "write-tree"); err != nil {
		return "", "", fmt.Errorf("looking what was changed elsewhere: %w", err)
	}
	of, err = t.TreeOf(ctx, commit)
	return strings.TrimSpace(index), of, err
}
