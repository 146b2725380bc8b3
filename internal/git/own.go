package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// A run can have files that are its own although nobody has committed them: a plan that its user has just written. They
// do not make a clone modified, and the run's first commit takes them up. Until then they are kept as the user's other
// files are.

// adoption is what Adopt has done, to be undone when the run comes to nothing.
type adoption struct {
	from   string // the newest commit before; "" is no adoption
	commit string // Adopt's own, or from when there was nothing
	tip    string // the newest of the harness's own corrections right on top of that
	before []entry
	names  []string
}

// owns reports whether a path belongs to the run.
func (t *Tree) owns(name string) bool {
	return len(t.o.Own) > 0 && newPaths(t.o.Own).cover(strings.TrimSuffix(name, "/"))
}

// holdsOwn reports whether something of the run's is below a directory.
func (t *Tree) holdsOwn(name string) bool {
	return len(t.o.Own) > 0 && newPaths(t.o.Own).below(strings.TrimSuffix(name, "/"))
}

// Adopt commits what lies uncommitted under Options.Own in a clone, changed, new and removed, and nothing else: files
// that are ignored, and repositories in there, stay what they are. It belongs after Start and before anything is run in
// the tree. Within a turn that was killed it does nothing, since what lies there is the agent's. The result is Empty,
// with the SHA that was, when there is nothing.
func (t *Tree) Adopt(ctx context.Context, message string) (loop.Commit, error) {
	t.owes = false
	nothing := loop.Commit{SHA: t.head, Tree: t.headTree, Empty: true, NoDiff: t.headTree == t.baseTree}
	if t.bot || len(t.o.Own) == 0 || t.o.Resume && !t.o.Settled {
		return nothing, nil
	}
	if err := errors.Join(t.settle(), t.guardOwn(ctx)); err != nil {
		return loop.Commit{}, err
	}
	defer t.noteIndex()
	names, err := t.uncommitted(ctx, t.o.Own)
	if err != nil {
		return nothing, err
	}
	if t.adopted = (adoption{from: t.head, commit: t.head, tip: t.head}); len(names) == 0 {
		return nothing, nil
	}
	commit, err := t.adopt(ctx, names, message)
	if err != nil {
		return loop.Commit{}, fmt.Errorf("committing what is under %s: %w", strings.Join(t.o.Own, ", "), err)
	}
	if commit == t.head { // what differed was how it is written, not what it says
		return nothing, nil
	}
	made, err := t.between(ctx, t.head, commit)
	if err != nil {
		return loop.Commit{}, err
	}
	t.head, t.headTree, t.indexed = made.SHA, made.Tree, ""
	return made, t.handOver(ctx)
}

// unmarkOwn takes the marks off the files that belong to the run: with one, git would not see what is in them.
func (t *Tree) unmarkOwn(ctx context.Context) error {
	if t.bot || len(t.o.Own) == 0 {
		return nil
	}
	args := []string{"ls-files", "-v", "-z", "--"}
	for _, name := range t.o.Own {
		args = append(args, ":(top,literal)"+name)
	}
	out, err := t.git.out(ctx, args...)
	if err != nil {
		return fmt.Errorf("reading the clone's index: %w", err)
	}
	var marked strings.Builder
	for _, entry := range records(out) {
		if tag, name, _ := strings.Cut(entry, " "); (tag == "S" || strings.ToLower(tag) == tag) &&
			exists(filepath.Join(t.work, name)) {
			marked.WriteString(name + "\x00")
		}
	}
	if marked.Len() == 0 {
		return nil
	}
	for _, option := range []string{"--no-skip-worktree", "--no-assume-unchanged"} {
		if _, _, err := t.git.run(ctx,
			call{args: []string{"update-index", option, "-z", "--stdin"}, in: strings.NewReader(marked.String())}); err != nil {
			return fmt.Errorf("taking the marks off %s: %w", strings.Join(t.o.Own, ", "), err)
		}
	}
	return nil
}

// uncommitted are the files under some paths that are not as HEAD has them.
func (t *Tree) uncommitted(ctx context.Context, under []string) ([]string, error) {
	args := []string{"status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=all", "--"}
	for _, name := range under {
		args = append(args, ":(top,literal)"+name)
	}
	out, err := t.git.out(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	var names []string
	for _, e := range records(out) {
		if name := e[3:]; !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (t *Tree) adopt(ctx context.Context, names []string, message string) (commit string, err error) {
	before, err := t.staged(ctx, names)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(t.scratch(), "adopt-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if commit, err = t.commitFiles(ctx, own, t.head, names, message); err != nil {
		return "", err
	}
	if err := t.refuseSecrets(ctx, commit); err != nil {
		return "", err
	}
	if err := t.update(ctx, nil, names); err != nil {
		return "", err
	}
	kept := slices.DeleteFunc(slices.Clone(t.kept), func(name string) bool { return slices.Contains(names, name) })
	if err := t.writeKept(kept); err != nil {
		return "", err
	}
	t.adopted = adoption{t.head, commit, commit, before, names}
	return commit, t.stand(ctx, commit)
}

// commitFiles makes a commit of files as they lie in the working tree, on top of another one, by an index of its own.
// The result is that one when they are in it like this.
func (t *Tree) commitFiles(ctx context.Context, own []string, parent string, names []string,
	message string) (commit string, err error) {
	before, err := t.TreeOf(ctx, parent)
	if err != nil {
		return "", err
	}
	if _, _, err := t.git.run(ctx, call{env: own, args: []string{"read-tree", parent}}); err != nil {
		return "", err
	}
	if err := t.update(ctx, own, names); err != nil {
		return "", err
	}
	tree, _, err := t.git.run(ctx, call{env: own, args: []string{"write-tree"}})
	if tree = strings.TrimSpace(tree); err != nil || tree == before {
		return parent, err
	}
	return t.commitTree(ctx, tree, parent, message)
}

// update makes an index hold files as they lie in the working tree, and not those that are not there.
func (t *Tree) update(ctx context.Context, own, names []string) error {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return err
	}
	defer root.Close()
	var there, gone []string
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && !info.IsDir() && behindDirectories(root, name) {
			there = append(there, name)
		} else {
			gone = append(gone, name)
		}
	}
	for _, c := range []struct {
		names   []string
		options []string
	}{{gone, []string{"--force-remove"}}, {there, []string{"--add", "--replace"}}} {
		if len(c.names) == 0 {
			continue
		}
		args := append(append([]string{"update-index"}, c.options...), "-z", "--stdin")
		if _, _, err := t.git.run(ctx, call{env: own, in: joined(c.names), args: args}); err != nil {
			return err
		}
	}
	return nil
}

// staged is what the index has under some names.
func (t *Tree) staged(ctx context.Context, names []string) ([]entry, error) {
	want := newPaths(names)
	out, err := t.git.out(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, record := range records(out) {
		about, name, _ := strings.Cut(record, "\t")
		if f := fields(about); len(f) == 3 && want.cover(name) {
			found = append(found, entry{f[0], f[1], name})
		}
	}
	return found, nil
}

// refuseSecrets fails when a commit of the user's files holds a secret of ours: it would be pushed one day.
func (t *Tree) refuseSecrets(ctx context.Context, commit string) error {
	if t.secrets().Empty() {
		return nil
	}
	found, err := t.leaksIn(ctx, t.head, commit)
	if err == nil && len(found.files) > 0 {
		err = fmt.Errorf("%s: holds a credential of the environment that ralph runs in; take it out",
			strings.Join(slices.Sorted(maps.Values(found.files)), ", "))
	}
	return err
}

// release takes back what Adopt has done, while nothing else has been committed: the user's files lie there uncommitted
// as before.
func (t *Tree) release(ctx context.Context) error {
	a := t.adopted
	if t.head != a.tip || a.tip == a.from {
		return nil
	}
	now, err := t.user.where(ctx)
	if err != nil || now.ref != t.ref() || now.commit != a.tip {
		return err
	}
	tree, err := t.TreeOf(ctx, a.from)
	if err != nil {
		return err
	}
	if err := t.layAll(ctx, a.commit, a.tip); err != nil {
		return fmt.Errorf("taking back the first commit of the run: %w", err)
	}
	if err := t.unstage(ctx, a); err != nil {
		return fmt.Errorf("taking back the first commit of the run: %w", err)
	}
	if err := t.stand(ctx, a.from); err != nil {
		return err
	}
	t.head, t.headTree, t.indexed, t.adopted = a.from, tree, "", adoption{}
	return t.handOver(ctx)
}

// unstage makes the index what it was before Adopt, of what that took up.
func (t *Tree) unstage(ctx context.Context, a adoption) error {
	var gone []entry
	for _, name := range a.names {
		gone = append(gone, entry{name: name})
	}
	return t.inIndex(ctx, nil, a.before, gone)
}
