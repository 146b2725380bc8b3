package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// settings are what a checkout of a clone has of the configuration that git would use for its user. Of a bot's nothing
// is taken.
type settings struct {
	sparse []byte // the patterns of a sparse checkout; nil: everything is checked out
	large  bool   // large files are taken through Git LFS
	// partial is the remote that contents are still to be fetched from; empty: everything is here.
	partial string
	// filter is one that the clone requires of contents, such as that of git-crypt; may be empty.
	filter string
	keys   string // the directory where git-crypt finds its keys; empty: it has none
	// contents are entries of a configuration file that say how contents are written, and attributes a file of them.
	contents, attributes []byte
}

// checkout is a working tree, with the harness's repository and its index beside it.
type checkout struct {
	objects
	o       Options
	branch  string
	work    string          // the working tree
	dir     string          // the harness's repository
	index   string          // the index that our commands use
	indexed string          // the commit that our own index is known to be at
	headAt  string          // where the run's branch is known to be in the harness's repository
	links   map[string]bool // the submodules of the index, by path
	settings
}

func (t *checkout) ref() string { return "refs/heads/" + t.branch }

func (t *checkout) recordRef() string { return recordRef(t.o.Task) }

// Dir is the working tree, an absolute path.
func (t *checkout) Dir() string { return t.work }

// Branch is the run's own branch.
func (t *checkout) Branch() string { return t.branch }

// settle clears away what an agent or a killed git left in the way of our own commands.
func (t *checkout) settle() error {
	_ = os.Remove(t.index + ".lock") // the index is used by no one else
	if info, err := os.Lstat(t.work); err == nil && info.IsDir() {
		return nil
	}
	if err := os.RemoveAll(t.work); err != nil { // a link instead of the working tree leads elsewhere
		return fmt.Errorf("making the working tree again: %w", err)
	}
	if err := os.Mkdir(t.work, 0o755); err != nil {
		return fmt.Errorf("making the working tree again: %w", err)
	}
	return giveAll(t.work, ".", t.o.As)
}

// findLinks notes the tree's submodules. Git must never look inside them: it would run there what their configuration
// says.
func (t *checkout) findLinks(ctx context.Context) error {
	out, err := t.git.out(ctx, "ls-files", "-z", "--format=%(objectmode) - %(objectname)%x09%(path)")
	if err != nil {
		return fmt.Errorf("looking for submodules: %w", err)
	}
	t.links = map[string]bool{}
	for name, e := range entriesOf(out) {
		if e.mode == gitlink {
			t.links[name] = true
		}
	}
	return nil
}

// setHead puts the run's branch, in the harness's repository, on a commit.
func (t *checkout) setHead(commit string) error {
	if t.headAt == commit {
		return nil
	}
	name := filepath.Join(t.dir, "refs", "heads", filepath.FromSlash(t.branch))
	via := filepath.Join(t.dir, "branch") // not in refs, where it would be another branch
	err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(via, []byte(commit+"\n"), 0o644))
	if err == nil { // otherwise it may be cut off, as where the disk is full
		err = os.Rename(via, name)
	}
	if err != nil {
		return fmt.Errorf("moving the branch %s: %w", t.branch, err)
	}
	t.headAt = commit
	return nil
}

// lay makes the index and the working tree what a commit or a tree has. What differs there is only examined if the
// working tree may differ. Files that say how others are written, or which are left alone, are right before those are.
func (t *checkout) lay(ctx context.Context, what string, differs bool) error {
	t.indexed = ""
	_, err := t.git.out(ctx, "read-tree", "--reset", what)
	changed := ""
	if err == nil && differs {
		changed, err = t.git.out(ctx, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
	}
	names := records(changed)
	first, rest := parted(names, func(name string) bool {
		return path.Base(name) == ".gitattributes" || path.Base(name) == ".gitignore"
	})
	if err == nil {
		err = t.git.writeAgain(ctx, first)
	}
	if err == nil {
		if err := t.git.clean(ctx); err != nil {
			t.o.log("git: not everything could be removed: %v", err)
		}
		err = t.git.writeAgain(ctx, rest)
	}
	if err != nil {
		return fmt.Errorf("making the tree what %.12s has: %w", what, err)
	}
	return t.give(names)
}

// parted are the names that something holds of, and the others.
func parted(names []string, holds func(string) bool) (which, others []string) {
	for _, name := range names {
		if holds(name) {
			which = append(which, name)
		} else {
			others = append(others, name)
		}
	}
	return which, others
}

// writeAgain writes files as the index has them.
func (d door) writeAgain(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, _, err := d.run(ctx, call{in: joined(names),
		args: []string{"checkout-index", "-f", "-u", "-q", "-z", "--stdin"}})
	return err
}

// clean removes what is neither tracked nor ignored: everywhere, or in a path.
func (d door) clean(ctx context.Context, in ...string) error {
	specs := safetext.Map(in, func(name string) string { return ":(top,literal)" + name })
	_, err := d.out(ctx, append([]string{"clean", "-ffdq", "--"}, specs...)...)
	return err
}

// give gives files of the working tree to the agent's user, and the directories that lead to them.
func (t *checkout) give(names []string) error {
	if err := giveFiles(t.work, names, t.o.As); err != nil {
		return fmt.Errorf("giving the files to the agent's user: %w", err)
	}
	return nil
}

// archived is where a commit of the run's branch is kept that the branch is taken from.
func (t *checkout) archived(commit string) string {
	return fmt.Sprintf("refs/heads/wip/archive/%s-%.8s", t.branch, commit)
}

// ObjectDirs are the directories that a checkout of the run's commits needs objects from, absolute.
func (t *checkout) ObjectDirs() []string {
	return objectDirs(t.store())
}

// objectDirs are a directory of objects and those that it borrows from.
func objectDirs(own string) []string {
	dirs := []string{own}
	for i := 0; i < len(dirs) && len(dirs) < 16; i++ {
		text, err := files.Read(filepath.Join(dirs[i], "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			if line = filepath.Clean(line); isDirectory(line) && !slices.Contains(dirs, line) {
				dirs = append(dirs, line)
			}
		}
	}
	return dirs
}

// Unkept is a file of the working tree that is in no commit.
type Unkept struct {
	Path string // from the top
	Made bool   // it was made or changed since a time
}

// grain is how far the time of a file may lie before that of the clock: file systems take the time of the kernel's last
// tick.
const grain = 20 * time.Millisecond

// mostUnkept bounds how many such files are listed.
const mostUnkept = 20_000

// Unkept lists files that lie in the working tree and are in no commit, since they are ignored; at most 20,000. Made says of each whether it was written since a time.
func (t *checkout) Unkept(ctx context.Context, since time.Time) ([]Unkept, error) {
	out := bounded{most: mostNames}
	_, _, err := t.git.run(ctx, call{out: &out,
		args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	names := whole(out, "\x00")
	var found []Unkept
	for _, name := range names[:min(len(names), mostUnkept)] {
		info, err := os.Lstat(filepath.Join(t.work, filepath.FromSlash(name)))
		if err != nil || info.IsDir() {
			continue
		}
		found = append(found, Unkept{Path: name, Made: lastChange(info).After(since.Add(-grain))})
	}
	return found, nil
}

// Leavings names what tools have made among uncommitted files, where no rule but ours keeps it out of commits: files,
// and whole directories with a slash at the end.
func (t *checkout) Leavings(ctx context.Context, of []Unkept) (names []string, err error) {
	made := slices.DeleteFunc(slices.Clone(of), func(u Unkept) bool { return !u.Made })
	why, err := t.WhyUnkept(ctx, safetext.Map(made, func(u Unkept) string { return u.Path }))
	for i, reason := range why {
		if pattern, ours := strings.CutPrefix(reason, leftByTools); ours {
			name := made[i].Path
			if at := strings.Index("/"+name, "/"+pattern); at >= 0 {
				name = name[:at+len(pattern)]
			}
			names = append(names, name)
		}
	}
	return slices.Compact(names), err
}

func lastChange(info os.FileInfo) time.Time {
	if _, changed := systemStamp(info); changed != 0 {
		return time.Unix(0, changed)
	}
	return info.ModTime()
}

// isToolsLine reports whether a line of the run's list of excluded files is one of toolsLeave, which that starts with.
func isToolsLine(number string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n <= strings.Count(toolsLeave, "\n")
}

// leftByTools starts the reason of a path that matches a pattern of toolsLeave.
const leftByTools = "is left by tools as "

// WhyUnkept says of each path why it is in no commit: "is ignored by .gitignore:5".
func (t *checkout) WhyUnkept(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	asked := safetext.Map(names, func(name string) string { return "./" + name }) // so that no name is read as a pattern
	out, _, err := t.git.run(ctx, call{in: joined(asked),
		args: []string{"check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"}})
	if err != nil && exit(err) != 1 {
		return nil, fmt.Errorf("asking git what ignores a file: %w", err)
	}
	parts := records(out) // source, line, pattern and path of each
	why := make([]string, len(names))
	for i := range names {
		switch {
		case 4*i+3 >= len(parts) || parts[4*i] == "":
			why[i] = "is not tracked"
		case parts[4*i] == t.o.excludes() && isToolsLine(parts[4*i+1]):
			why[i] = leftByTools + parts[4*i+2]
		case parts[4*i] == t.o.excludes():
			why[i] = fmt.Sprintf("is ignored by %q, one of your own patterns", parts[4*i+2])
		default:
			why[i] = fmt.Sprintf("is ignored by %s:%s", parts[4*i], parts[4*i+1])
		}
	}
	return why, nil
}
