package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// A user can let a run work in a clone whose tracked files are modified. Those files are left out of the run: no commit
// takes them up, nothing puts them back, and what the clone's index has of them stays there.

// modifiedFile lists those files in the harness's repository, each as the clone's index had it.
const modifiedFile = "modified"

// underWay names, by a file in a repository, what a user has begun there and not ended.
var underWay = []struct{ file, what, end string }{
	{"MERGE_HEAD", "a merge", "git merge --continue or --abort"},
	{"rebase-merge", "a rebase", "git rebase --continue or --abort"},
	{"rebase-apply", "a rebase", "git rebase --continue or --abort (git am, if that is what it was)"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or --abort"},
	{"REVERT_HEAD", "a revert", "git revert --continue or --abort"},
	{"BISECT_START", "a bisection", "git bisect reset"},
}

// refuseUnderWay fails when the user has begun something in the clone and not ended it: a run would go on with it, or
// drop it.
func (t *Tree) refuseUnderWay() error {
	for _, u := range underWay {
		if exists(filepath.Join(t.user.dir, u.file)) {
			return fmt.Errorf("%s is under way in this clone: end it (%s), then run again", u.what, u.end)
		}
	}
	return nil
}

// refuseDirty names the tracked files that are not as committed.
func (t *Tree) refuseDirty(ctx context.Context) error {
	names, err := t.dirtyFiles(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("tracked files are modified (%s): commit or stash them, then run again; --allow-dirty leaves them "+
		"out of the run", safetext.FirstN(names, 5))
}

// dirtyFiles names the tracked files that are not as committed and do not belong to the run.
func (t *Tree) dirtyFiles(ctx context.Context) (names []string, err error) {
	out, err := t.user.door.out(ctx, "status", "--porcelain=v1", "-z", "-uno", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return nil, fmt.Errorf("looking for modified files: %w", err)
	}
	for _, entry := range records(out) {
		if name := entry[3:]; !t.owns(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// besideUser reports whether the run is taken up from elsewhere than its branch, in a clone whose modified files it is
// to leave alone: they are its user's, whatever there was when the run began.
func (t *Tree) besideUser() bool {
	return t.o.AllowDirty && t.came.ref != t.ref() && !t.o.unsettled()
}

// leaveOut finds the user's modified files when the run is allowed to work beside them. A run that is taken up keeps
// the list of its beginning.
func (t *Tree) leaveOut(ctx context.Context) error {
	file := filepath.Join(t.dir, modifiedFile)
	if t.o.Resume && !t.besideUser() {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the run's list of modified files: %w", err)
		}
		t.modified = entries(string(text))
		return nil
	}
	names, err := t.dirtyFiles(ctx)
	if err != nil {
		return err
	}
	if len(names) > 0 && t.sparse() != nil {
		return fmt.Errorf("tracked files are modified (%s) and this is a sparse checkout, in which they cannot be left out "+
			"of the run: commit or stash them, then run again", names[0])
	}
	specs := []string{}
	for _, name := range names {
		specs = append(specs, ":(top,literal)"+name)
	}
	var list string
	if len(names) > 0 {
		if list, err = t.user.door.out(ctx, append([]string{"ls-files", "-z", "--stage", "--"}, specs...)...); err != nil {
			return fmt.Errorf("looking for modified files: %w", err)
		}
	}
	t.modified = entries(list)
	for _, name := range names {
		if !slices.ContainsFunc(t.modified, func(e entry) bool { return e.name == name }) {
			t.modified = append(t.modified, entry{"0", strings.Repeat("0", len(t.came.commit)), name})
		}
	}
	var b strings.Builder
	for _, e := range t.modified {
		fmt.Fprintf(&b, "%s %s 0\t%s\x00", e.mode, e.id, e.name)
	}
	if err := replace(file, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("writing the run's list of modified files: %w", err)
	}
	return nil
}

// entries reads what git ls-files --stage -z lists.
func entries(list string) (found []entry) {
	for _, record := range records(list) {
		about, name, _ := strings.Cut(record, "\t")
		if f := fields(about); len(f) == 3 {
			found = append(found, entry{f[0], f[1], name})
		}
	}
	return found
}

// Modified names the user's modified files that are left out of the run.
func (t *Tree) Modified() (names []string) {
	for _, e := range t.modified {
		names = append(names, e.name)
	}
	return names
}

// leftOut names the files that are left out of the run: the modified ones, and those that lie there with a mark of the
// user's.
func (t *Tree) leftOut() []string {
	names := slices.AppendSeq(t.Modified(), maps.Keys(t.unseen))
	slices.Sort(names)
	return slices.Compact(names)
}

// passOver makes our index hold the files that are left out as a commit has them, each marked as not to be looked at.
func (t *Tree) passOver(ctx context.Context, commit string) error {
	names := t.leftOut()
	if len(names) == 0 {
		return nil
	}
	out, err := t.git.out(ctx, append([]string{"ls-tree", "-z", "--full-tree", commit, "--"}, names...)...)
	if err != nil {
		return fmt.Errorf("leaving files out of the run: %w", err)
	}
	in := map[string]bool{}
	var puts, gone []entry
	for _, record := range records(out) {
		about, name, _ := strings.Cut(record, "\t")
		if f := fields(about); len(f) == 3 && f[1] == "blob" {
			puts, in[name] = append(puts, entry{f[0], f[2], name}), true
		}
	}
	for _, name := range names {
		if !in[name] {
			gone = append(gone, entry{name: name})
		}
	}
	if err := t.inIndex(ctx, nil, puts, gone); err != nil {
		return fmt.Errorf("leaving files out of the run: %w", err)
	}
	marks := map[string][]string{"--skip-worktree": t.Modified()}
	for option, marked := range t.marks {
		marks[option] = append(marks[option], marked...)
	}
	for option, marked := range marks {
		marked = slices.DeleteFunc(marked, func(name string) bool { return !in[name] })
		if err := t.setMark(ctx, option, marked); err != nil {
			return fmt.Errorf("leaving files out of the run: %w", err)
		}
	}
	return nil
}

// setMark marks files in our index, by an option of update-index.
func (t *Tree) setMark(ctx context.Context, option string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, _, err := t.git.run(ctx, call{in: joined(names), args: []string{"update-index", option, "-z", "--stdin"}})
	return err
}

// showModified makes an index of the clone have the modified files as it did before the run.
func (t *Tree) showModified(ctx context.Context, index string) error {
	if len(t.modified) == 0 {
		return nil
	}
	var puts, gone []entry
	for _, e := range t.modified {
		if e.mode == "0" {
			gone = append(gone, e)
		} else {
			puts = append(puts, e)
		}
	}
	if err := t.inIndex(ctx, []string{"GIT_INDEX_FILE=" + index}, puts, gone); err != nil {
		return fmt.Errorf("writing the clone's index: %w", err)
	}
	return nil
}

// holdsLeftOut reports whether the commits from one to another change a file that is left out of the run: a modified
// one, or one that the user has marked as not to be looked at.
func (t *Tree) holdsLeftOut(ctx context.Context, from, to string) (bool, error) {
	names := t.leftOut()
	if len(names) == 0 || from == to {
		return false, nil
	}
	args := []string{"diff-tree", "-r", "--quiet", "--no-ext-diff", from, to, "--"}
	for _, name := range names {
		args = append(args, ":(top,literal)"+name)
	}
	_, err := t.git.out(ctx, args...)
	if exit(err) == 1 {
		return true, nil
	}
	return false, err
}

// overlookedNotes tell of files that no commit takes up and that were changed since they were last looked at.
func (t *Tree) overlookedNotes() (notes []string) {
	modified := t.Modified()
	for _, name := range t.overlooked() {
		why := "you have marked it as not to be looked at (git ls-files -v)"
		if slices.Contains(modified, name) {
			why = "it was modified before the run"
		}
		notes = append(notes, fmt.Sprintf("what was changed in %s is not committed: %s", name, why))
	}
	return notes
}
