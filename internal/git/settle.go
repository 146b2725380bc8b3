package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// settle clears away what an agent or a killed git left in the way of our own commands.
func (t *Tree) settle() error {
	if !t.bot {
		return t.settleClone()
	}
	_ = os.Remove(t.index + ".lock") // the bot's index is used by nobody else
	if info, err := os.Lstat(t.work); err == nil && info.IsDir() {
		return nil
	}
	if err := os.RemoveAll(t.work); err != nil { // a link instead of the working tree leads elsewhere
		return fmt.Errorf("making the working tree again: %w", err)
	}
	if err := os.Mkdir(t.work, 0o755); err != nil {
		return fmt.Errorf("making the working tree again: %w", err)
	}
	return t.own(".")
}

func (t *Tree) settleClone() error {
	_ = os.Remove(t.index + ".lock") // ours alone
	if err := t.user.check(); err != nil {
		return err
	}
	t.unlock()
	if t.user.frozen == nil { // no agent has run yet
		return nil
	}
	changed, err := t.user.thaw(t.state)
	if len(changed) > 0 {
		t.log("git: %s of the clone's repository was changed during the run and is put back; the change is in %s",
			strings.Join(changed, ", "), t.state)
		t.tell("the clone's git configuration was changed and is put back (" + strings.Join(changed, ", ") + ")")
	}
	return err
}

// How long a lock of git's may be somebody's who is at work.
const (
	lockWait = 2 * time.Second // when whoever could have left it is dead
	lockAge  = time.Minute
)

// openFile says in our directory that a process works in the clone. One that is there when we come was left by a
// process that died.
func (t *Tree) openFile() string { return filepath.Join(t.o.Root, "open") }

// clearLocks removes the locks that a process of ours left in the clone's repository when it was killed.
func (t *Tree) clearLocks() error {
	died := t.o.Root != "" && exists(t.openFile())
	if err := t.unlockAtFirst(died || t.o.Died || t.o.Killed); err != nil {
		return err
	}
	if t.o.Root == "" {
		return nil
	}
	if err := os.MkdirAll(t.o.Root, 0o700); err != nil {
		return fmt.Errorf("making a place for the run: %w", err)
	}
	if err := os.WriteFile(t.openFile(), nil, 0o600); err != nil {
		return fmt.Errorf("making a place for the run: %w", err)
	}
	return nil
}

// unlockAtFirst removes the locks in the clone's repository that nobody holds any more, before the run has touched
// anything. left says that whoever may have left one is dead. A git of the user's keeps its locks: it may hold one for
// as long as an editor is open.
func (t *Tree) unlockAtFirst(left bool) error {
	begun := time.Now()
	for _, lock := range t.user.locks() {
		for ; ; time.Sleep(50 * time.Millisecond) {
			info, err := os.Lstat(lock)
			if err != nil {
				break
			}
			pid, line := t.user.atWork()
			abandoned, waited := left || time.Since(info.ModTime()) > lockAge, time.Since(begun) > lockWait
			switch {
			case pid == 0 && !abandoned: // it may be in nobody's way
			case !waited && (pid != 0 || left):
				continue
			case pid != 0:
				return fmt.Errorf("the clone's repository is locked: %s is there, and git is at work in the clone (process %d: "+
					"%s): let it end, then run again", lock, pid, line)
			default:
				t.removeLock(lock)
			}
			break
		}
	}
	return nil
}

// atWork finds a git that is at work in the clone, none that only waits to be asked.
func (u *users) atWork() (pid int, line string) {
	pid, args := proc.At([]string{u.top, u.dir, u.common}, func(args []string) bool {
		return strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "git" &&
			!slices.ContainsFunc(args, func(arg string) bool { return arg == "cat-file" || strings.HasSuffix(arg, "daemon") })
	})
	return pid, strings.Join(args, " ")
}

func (t *Tree) removeLock(lock string) {
	t.log("git: removing the lock %s, which a git that was killed has left", lock)
	_ = os.Remove(lock) // what is still in the way is told by the next command
}

// unlock removes the locks that an agent has left. The user's own git may hold one for a moment, so it must be there
// for a while.
func (t *Tree) unlock() {
	begun := time.Now()
	for _, lock := range t.user.locks() {
		for {
			info, err := os.Lstat(lock)
			if err != nil {
				break
			}
			if time.Since(info.ModTime()) > lockAge || time.Since(begun) > lockWait {
				t.removeLock(lock)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// mostRefFiles bounds how many files are looked at for locks.
const mostRefFiles = 5000

// locks are the locks that there are in the repository.
func (u *users) locks() (found []string) {
	for _, name := range []string{filepath.Join(u.dir, "index.lock"), filepath.Join(u.dir, "HEAD.lock"),
		filepath.Join(u.common, "config.lock"),
		filepath.Join(u.common, "packed-refs.lock"), filepath.Join(u.common, "shallow.lock")} {
		if exists(name) {
			found = append(found, name)
		}
	}
	seen := 0
	_ = filepath.WalkDir(filepath.Join(u.common, "refs"), func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > mostRefFiles {
			return fs.SkipAll
		}
		if err == nil && strings.HasSuffix(path, ".lock") && d.Type().IsRegular() {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// removeLocks removes every lock in a repository that nobody but us uses.
func removeLocks(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // what is in the way is told by the next command
		case d.IsDir() && d.Name() == "objects":
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".lock"):
			_ = os.Remove(path)
		}
		return nil
	})
}
