package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/regex"
)

// users is the repository of a clone, in which its user works.
type users struct {
	door   door
	dir    string // its git directory, absolute; of a linked worktree its own
	common string // where objects and branches are
	top    string // the working tree
	head   place  // where it stands
	tree   string // of that commit

	frozen map[string]fileText // files that decide what git does, as they were before the first turn
}

// notARepository says why a directory cannot be worked in.
func (u *users) notARepository(err error) error {
	var e *commandError
	switch {
	case errors.As(err, &e) && strings.Contains(e.Stderr, "dubious ownership"):
		return fmt.Errorf("%s belongs to another user: tell git to trust it (git config --global --add safe.directory %s)",
			u.door.dir, u.door.dir)
	case err == nil || e != nil && (strings.Contains(e.Stderr, "not a git repository") || strings.Contains(e.Stderr, "work tree")):
		return fmt.Errorf("%s is not in a git repository with a working tree: change into one, or run git init and make a "+
			"first commit", u.door.dir)
	}
	return err
}

// openUsers finds the clone that a directory is in. A clone without a commit is refused.
func openUsers(ctx context.Context, dir string, env []string) (*users, error) {
	u := &users{door: door{dir: dir, env: usersDoor(env), pair: safe}}
	err := u.find(ctx)
	if err == nil && u.head.commit == "" {
		err = fmt.Errorf("%s has no commit yet: make a first one, then run again", u.top)
	}
	return u, err
}

// find settles where the clone is, and where it stands. Every later command gets that, whatever becomes of the
// directory's .git.
func (u *users) find(ctx context.Context) error {
	out, err := u.door.out(ctx, "rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir", "HEAD^{commit}",
		"HEAD^{tree}", "--symbolic-full-name", "HEAD")
	if e := (*commandError)(nil); errors.As(err, &e) { // perhaps there is no commit yet
		out = e.Stdout
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) < 3 || lines[0] != "true" {
		return u.notARepository(err)
	}
	u.top, u.dir = lines[1], lines[2]
	if u.head = (place{}); len(lines) == 6 {
		u.head.commit, u.tree = lines[3], lines[4]
		if lines[5] != "HEAD" {
			u.head.ref = lines[5]
		}
	}
	u.common = commonOf(u.dir)
	u.door.dir = u.top
	u.door.env = append(u.door.env, "GIT_DIR="+u.dir, "GIT_WORK_TREE="+u.top)
	return nil
}

// commonOf is where a repository keeps its objects: linked worktrees name it in a file.
func commonOf(dir string) string {
	text, err := files.Read(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	common := strings.TrimSpace(string(text))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return filepath.Clean(common)
}

// freezeFiles are the files of a clone that decide what git does in it, its hooks as they are now among them.
func (u *users) freezeFiles() []string {
	hooks, _ := filepath.Glob(filepath.Join(u.common, "hooks", "*"))
	return append(hooks,
		filepath.Join(u.common, "config"), filepath.Join(u.dir, "config.worktree"), filepath.Join(u.dir, "commondir"),
		filepath.Join(u.common, "info", "exclude"), filepath.Join(u.common, "info", "attributes"),
		filepath.Join(u.common, "info", "grafts"),
		filepath.Join(u.dir, "info", "sparse-checkout"), filepath.Join(u.common, "shallow"),
		filepath.Join(u.common, "objects", "info", "alternates"))
}

// freeze remembers the files that decide what git does, as they were before the agent ran.
func (u *users) freeze() error {
	u.frozen = map[string]fileText{}
	for _, file := range u.freezeFiles() {
		text, err := readText(file)
		if err != nil {
			return fmt.Errorf("reading the clone's configuration: %w", err)
		}
		u.frozen[file] = text
	}
	return nil
}

// fileText is a file as it was.
type fileText struct {
	text []byte // nil: it did not exist
	mode fs.FileMode
}

// readText reads a file. One that is missing is no error; a pipe or a device has nothing in it, and no one waits for
// it.
func readText(file string) (t fileText, err error) {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, err
	}
	t.text, t.mode = []byte{}, info.Mode().Perm()
	at, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return t, err
	}
	defer at.Close()
	if now, err := at.Stat(); err != nil || !now.Mode().IsRegular() {
		return t, err
	}
	t.text, err = io.ReadAll(at) // empty, never nil
	return t, err
}

// thaw puts back the files that decide what git does, where they were changed during the run: git runs programs that
// its configuration names, outside of the agent's sandbox. What they were changed to is kept in a directory. It names
// what was put back.
func (u *users) thaw(kept string) (changed []string, err error) {
	for _, file := range u.freezeFiles() {
		if _, known := u.frozen[file]; !known { // a new hook
			u.frozen[file] = fileText{}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(u.frozen)) {
		was := u.frozen[file]
		now, err := readText(file)
		if err == nil && bytes.Equal(now.text, was.text) && (now.text == nil) == (was.text == nil) && plainFile(file, was) {
			continue
		}
		if now.text != nil {
			err := os.MkdirAll(kept, 0o700)
			if err == nil {
				err = files.Put(filepath.Join(kept, filepath.Base(file)+".changed"), now.text, 0o600)
			}
			if err != nil {
				return changed, fmt.Errorf("keeping the clone's configuration: %w", err)
			}
		}
		if err := was.putBack(file); err != nil {
			return changed, fmt.Errorf("putting the clone's configuration back: %w", err)
		}
		changed = append(changed, filepath.Base(file))
	}
	return changed, nil
}

// plainFile reports whether a file is what it was in kind: no link leads elsewhere in its place.
func plainFile(file string, was fileText) bool {
	info, err := os.Lstat(file)
	return was.text == nil || err == nil && info.Mode().IsRegular()
}

// putBack writes the file again. Whatever is in its place is not written through, and no link that has come in the
// place of its directory.
func (t fileText) putBack(file string) error {
	dir := filepath.Dir(file)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	if t.text == nil {
		return os.RemoveAll(file)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return files.Put(file, t.text, t.mode)
}

// How long a lock of git's may belong to a process that still runs.
const (
	lockWait = 2 * time.Second // when the process that could have left it is dead
	lockAge  = time.Minute
)

// unlock removes those of the locks in the clone's repository that no one holds, before the run has touched anything.
// left says that the process which may have left one is dead. A git of the user's keeps its locks: it may hold one for
// as long as an editor is open.
func (u *users) unlock(locks []string, left bool, log func(format string, args ...any)) error {
	begun := time.Now()
	for _, lock := range locks {
		for ; ; time.Sleep(50 * time.Millisecond) {
			info, err := os.Lstat(lock)
			if err != nil {
				break
			}
			pid, line := u.atWork()
			abandoned, waited := left || time.Since(info.ModTime()) > lockAge, time.Since(begun) > lockWait
			switch {
			case pid == 0 && !abandoned: // it may be in no one's way
			case !waited && (pid != 0 || left):
				continue
			case pid != 0:
				return fmt.Errorf("the clone's repository is locked: %s exists, and git is running in the clone (process %d: %s): wait for it to finish, then run again", lock, pid, line)
			default:
				log("git: removing the lock %s, which a git that was killed has left", lock)
				_ = os.Remove(lock) // the next command reports what is still in the way
			}
			break
		}
	}
	return nil
}

// atWork finds a git that is running in the clone, none that only waits to be asked.
func (u *users) atWork() (pid int, line string) {
	pid, args := proc.At([]string{u.top, u.dir, u.common}, func(args []string) bool {
		return strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "git" &&
			!slices.ContainsFunc(args, func(arg string) bool { return arg == "cat-file" || strings.HasSuffix(arg, "daemon") })
	})
	return pid, strings.Join(args, " ")
}

// existing are those of some files that exist.
func existing(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !exists(name) })
}

// locks are the locks that there are in the repository.
func (u *users) locks() (found []string) {
	found = existing(filepath.Join(u.dir, "index.lock"), filepath.Join(u.dir, "HEAD.lock"),
		filepath.Join(u.common, "config.lock"),
		filepath.Join(u.common, "packed-refs.lock"), filepath.Join(u.common, "shallow.lock"))
	return append(found, locksBelow(filepath.Join(u.common, "refs"))...)
}

// locksBelow are the locks in a repository, or in a directory of its refs.
func locksBelow(dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // what cannot be read has no lock that we could remove
		case path == filepath.Join(dir, "objects"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(path, ".lock"):
			found = append(found, path)
		}
		return nil
	})
	return found
}

// readQuietly reads a file; nothing where it cannot be read, as git does with those that its configuration names.
func readQuietly(path string) []byte {
	text, _ := readText(path)
	return append([]byte{}, text.text...)
}

// whoCommits is who git would say that commits are by, as variables of its environment; nil when git does not know its
// user.
func whoCommits(ctx context.Context, dir string, env []string) (who []string, err error) {
	d := door{dir: dir, env: usersEnvironment(env)}
	all, err := d.out(ctx, "var", "-l")
	if err == nil && !namesMail.MatchString(all) { // the list has a guess, which git can refuse to commit with
		_, err = d.out(ctx, "var", "GIT_AUTHOR_IDENT")
	}
	switch {
	case exit(err) > 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("asking git who commits: %w", err)
	}
	all = "\n" + all
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		_, ident, _ := strings.Cut(all[max(0, strings.LastIndex(all, "\nGIT_"+role+"_IDENT=")):], "=")
		name, rest, _ := strings.Cut(ident, " <")
		mail, _, _ := strings.Cut(rest, ">")
		if name == "" {
			return nil, nil
		}
		who = append(who, "GIT_"+role+"_NAME="+name, "GIT_"+role+"_EMAIL="+mail)
	}
	return who, nil
}

// namesMail finds the user's address in git's configuration.
var namesMail = regex.Lazy(`(?m)^user\.email=.`)
