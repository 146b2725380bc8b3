//go:build unix

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// What the other processes of these tests do; see TestMain.

func quietLock(dir string) (func(), error) { return Lock(dir, func(string, ...any) {}) }

// lockWhenTold waits for a line, so that many processes begin at once.
func lockWhenTold(dir string) (func(), error) {
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return nil, err
	}
	return quietLock(dir)
}

// sayOwner fails with what Held says.
func sayOwner(dir string) (func(), error) {
	o, err := LockOwner(dir)
	return nil, errors.Join(fmt.Errorf("%d %v %v %v", o.PID, o.Alive, o.Holds, o.Elsewhere), err)
}

// clone makes what a clone looks like from outside.
func clone(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	noError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	overwrite(t, filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"))
	return dir
}

// places are a plain directory and a clone.
func places(t *testing.T) map[string]string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	return map[string]string{"directory": dir, "clone": clone(t)}
}

// said is what Lock says, besides taking the lock.
func said(t *testing.T, dir string) (log string, unlock func()) {
	t.Helper()
	unlock, err := Lock(dir, func(format string, args ...any) { log += fmt.Sprintf(format, args...) + "\n" })
	noError(t, err)
	return log, unlock
}

func refused(t *testing.T, dir string, pid int) {
	t.Helper()
	var held *HeldError
	if _, err := Lock(dir, t.Logf); !errors.As(err, &held) ||
		err.Error() != fmt.Sprintf("ERROR: Another Ralph loop active (PID %d)", pid) {
		t.Errorf("%s: %v, want that process %d holds it", dir, err, pid)
	}
}

func TestLock(t *testing.T) {
	for name, dir := range places(t) {
		log, unlock := said(t, dir)
		if log != "" {
			t.Errorf("%s: nothing was there, and it says %q", name, log)
		}
		for range 2 { // who asks after a lock does not take it from its owner, who may ask as well
			if o, err := LockOwner(dir); o != (Owner{Dir: dir, PID: os.Getpid(), Alive: true, Holds: true}) || err != nil {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
			refused(t, dir, os.Getpid())
			if o := another(t, dir, "look"); o.said != fmt.Sprintf("%d true true false", os.Getpid()) {
				t.Errorf("%s: another process finds %s", name, o.said)
			}
			if o := another(t, dir, "run"); o.said != fmt.Sprintf("ERROR: Another Ralph loop active (PID %d)", os.Getpid()) {
				t.Errorf("%s: another process: %s", name, o.said)
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, LockFile)); string(text) != fmt.Sprintln(os.Getpid()) || err != nil {
			t.Errorf("%s: the lock holds %q, %v", name, text, err)
		}
		unlock()
		if o := another(t, dir, "look"); o.said != "0 false false false" {
			t.Errorf("%s: it was given back, and another process finds %s", name, o.said)
		}
		if _, err := os.Stat(filepath.Join(dir, LockFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the lock is still there: %v", name, err)
		}
		log, unlock = said(t, dir)
		unlock()
		if log != "" {
			t.Errorf("%s: it was given back, and it says %q", name, log)
		}
	}
}

// An agent removes what git does not know of, or all that it finds.
func TestLockOutlivesItsFile(t *testing.T) {
	dir := clone(t)
	a := another(t, dir, "run")
	noError(t, os.Remove(filepath.Join(dir, LockFile)))
	refused(t, dir, a.Process.Pid)
	if _, err := os.Stat(filepath.Join(dir, LockFile)); err == nil {
		t.Error("who was refused has left a lock")
	}
	if o, err := LockOwner(dir); o != (Owner{Dir: dir, PID: a.Process.Pid, Alive: true, Holds: true}) || err != nil {
		t.Errorf("%+v, %v", o, err)
	}
	_, _ = a.Process.Kill(), a.Wait()
	log, unlock := said(t, dir)
	unlock()
	if !strings.Contains(log, fmt.Sprintf("the lock of process %d is taken over", a.Process.Pid)) {
		t.Errorf("it says %q", log)
	}

	plain := places(t)["directory"]
	b := another(t, plain, "run")
	overwrite(t, filepath.Join(plain, LockFile), []byte("1\n"))
	refused(t, plain, b.Process.Pid) // the system says who
}

// A run of a prompt works in a directory below the top, with settings of its own, while another works at the top.
func TestOneLockForAWorktree(t *testing.T) {
	dir := clone(t)
	below := filepath.Join(dir, "a", "b")
	noError(t, os.MkdirAll(below, 0o755))
	noError(t, os.Mkdir(filepath.Join(dir, "a", ".git"), 0o755)) // an empty directory makes no clone
	link := filepath.Join(t.TempDir(), "link")
	noError(t, os.Symlink(below, link))
	for _, at := range []string{dir, below, link} {
		_, unlock := said(t, at)
		for _, from := range []string{dir, below, link} {
			refused(t, from, os.Getpid())
			if o, err := LockOwner(from); o.Dir != dir || !o.Holds || err != nil {
				t.Errorf("%s, held from %s: %+v, %v", from, at, o, err)
			}
		}
		unlock()
	}
}

// A linked worktree has a lock of its own, in its own git directory; so has a clone within a clone.
func TestEachWorktreeHasItsLock(t *testing.T) {
	dir := clone(t)
	git := filepath.Join(dir, ".git", "worktrees", "x")
	noError(t, os.MkdirAll(git, 0o755))
	overwrite(t, filepath.Join(git, "HEAD"), []byte("ref: refs/heads/x\n"))
	linked, relative := filepath.Join(dir, "linked"), filepath.Join(dir, "relative")
	noError(t, errors.Join(os.Mkdir(linked, 0o755), os.Mkdir(relative, 0o755)))
	overwrite(t, filepath.Join(linked, ".git"), []byte("gitdir: "+git+"\n"))
	overwrite(t, filepath.Join(relative, ".git"), []byte("gitdir: ../.git/worktrees/x\n"))
	_, unlock := said(t, dir)
	defer unlock()
	_, unlockLinked := said(t, linked)
	defer unlockLinked()
	if _, err := os.Stat(filepath.Join(git, "ralph", "lock")); err != nil {
		t.Error(err)
	}
	if o := another(t, relative, "run"); !strings.Contains(o.said, "Another Ralph loop active") { // the same git directory
		t.Errorf("relative: %s", o.said)
	}
	for content, top := range map[string]string{"gitdir: nowhere\n": dir, "nonsense": dir, "": dir} {
		overwrite(t, filepath.Join(relative, ".git"), []byte(content))
		if place, err := placeOf(relative); place.top != top || err != nil {
			t.Errorf("%q: %+v, %v", content, place, err)
		}
	}
}

func TestStaleLockIsTakenOver(t *testing.T) {
	other := exec.Command("sleep", "60") // has the number of a run that is gone
	noError(t, other.Start())
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	reused := strconv.Itoa(other.Process.Pid)
	for content, want := range map[string]string{
		"999999999\n": "the lock of process 999999999 is taken over: that process ended without giving it back",
		reused + "\n": "the lock of process " + reused + " is taken over",
		"":            "",
		"garbage":     "a lock file is taken over: no process holds it",
	} {
		for name, dir := range places(t) {
			overwrite(t, filepath.Join(dir, LockFile), []byte(content))
			log, unlock := said(t, dir)
			if strings.Contains(log, want) != true || (want == "") != (log == "") || strings.Count(log, "\n") > 1 {
				t.Errorf("%s holding %q: it says %q", name, content, log)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, LockFile)); string(text) != fmt.Sprintln(os.Getpid()) {
				t.Errorf("%s holding %q: it holds %q now", name, content, text)
			}
			unlock()
		}
	}
}

func TestUnlockLeavesAnothersLock(t *testing.T) {
	for what, change := range map[string]func(name string) error{
		"other content": func(name string) error { return os.WriteFile(name, []byte("1\n"), 0o600) },
		"another file":  func(name string) error { return replace(name, "1\n") },
	} {
		for where, dir := range places(t) {
			_, unlock := said(t, dir)
			name := filepath.Join(dir, LockFile)
			noError(t, change(name))
			unlock()
			if text, err := os.ReadFile(name); string(text) != "1\n" {
				t.Errorf("%s in a %s: another's lock was removed: %v", what, where, err)
			}
			noError(t, os.Remove(name))
		}
	}
}

// What stands in the lock's place is not followed, not opened, and told.
func TestWhatStandsInTheLocksPlace(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	for what, plant := range map[string]func(name string) error{
		"a link":               func(name string) error { return os.Symlink(victim, name) },
		"a link to a file":     func(name string) error { return os.Symlink(".git/HEAD", name) },
		"a link to itself":     func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"another name":         func(name string) error { return os.Link(filepath.Join(filepath.Dir(name), "own"), name) },
		"a pipe":               func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"a directory":          func(name string) error { return os.Mkdir(name, 0o755) },
		"a directory of files": func(name string) error { return os.MkdirAll(filepath.Join(name, "x"), 0o755) },
	} {
		for _, at := range []string{LockFile, ".git/" + gitLock} {
			dir := clone(t)
			name := filepath.Join(dir, at)
			noError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			overwrite(t, filepath.Join(filepath.Dir(name), "own"), []byte("precious\n"))
			noError(t, plant(name))
			_, err := Lock(dir, t.Logf)
			if err == nil || !strings.HasSuffix(err.Error(), name+" is not a regular file: remove it") {
				t.Errorf("%s at %s: %v", what, at, err)
			}
			if head, _ := os.ReadFile(filepath.Join(dir, ".git", "HEAD")); string(head) != "ref: refs/heads/main\n" {
				t.Errorf("%s at %s: HEAD is %q", what, at, head)
			}
			if own, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "own")); string(own) != "precious\n" {
				t.Errorf("%s at %s: a file holds %q", what, at, own)
			}
			noError(t, os.RemoveAll(name))
			_, unlock := said(t, dir) // and nothing stays locked
			unlock()
		}
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("something was written through a link")
	}

	dir := clone(t)
	noError(t, os.Symlink(t.TempDir(), filepath.Join(dir, ".git", "ralph")))
	if _, err := Lock(dir, t.Logf); err == nil || !strings.Contains(err.Error(), "taking the lock ") {
		t.Errorf("a directory that leads out: %v", err)
	}
}

// Where nothing may be written, a sentence says so; where only the git directory is closed, the run goes on with one
// lock.
func TestLockInAReadOnlyDirectory(t *testing.T) {
	need.That(t, "a user other than root", os.Geteuid() != 0) // root may write everywhere
	dir := clone(t)
	closed := func(name string) {
		noError(t, os.Chmod(name, 0o555))
		t.Cleanup(func() { _ = os.Chmod(name, 0o755) })
	}
	closed(filepath.Join(dir, ".git"))
	log, unlock := said(t, dir)
	unlock()
	if !strings.Contains(log, "the second lock, in "+dir) || !strings.Contains(log, "do not remove .ralph.lock") {
		t.Errorf("it says %q", log)
	}
	closed(dir)
	if _, err := Lock(dir, t.Logf); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("%v", err)
	}
}

func TestLockError(t *testing.T) {
	for _, err := range []error{unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL} {
		if got := lockError("/x", err).Error(); !strings.Contains(got, "the file system of /x keeps no locks") {
			t.Error(got)
		}
	}
	if got := lockError("/x", unix.EIO).Error(); got != "taking the lock /x: input/output error" {
		t.Error(got)
	}
}

func TestHeld(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	if o, err := LockOwner(dir); o != (Owner{Dir: dir}) || err != nil {
		t.Errorf("no lock: %+v, %v", o, err)
	}
	for text, want := range map[string]Owner{"": {}, "x": {}, "-3": {}, "999999999": {PID: 999999999},
		"1\n": {PID: 1, Alive: true}} {
		overwrite(t, filepath.Join(dir, LockFile), []byte(text))
		want.Dir = dir
		if o, err := LockOwner(dir); o != want || err != nil {
			t.Errorf("lock %q: %+v, %v; want %+v", text, o, err, want)
		}
	}
}

// Many processes begin at once: one of them gets the lock. It is killed half of the time, and the next round begins at
// once.
func TestSimultaneousStarts(t *testing.T) {
	for name, dir := range places(t) {
		for round := range 50 {
			var racers []*racer
			for range 8 {
				racers = append(racers, newRacer(t, dir))
			}
			for _, r := range racers {
				_, _ = io.WriteString(r.in, "go\n")
			}
			var winners []*racer
			for _, r := range racers {
				said, _ := r.out.ReadString('\n')
				switch {
				case said == "ready\n":
					winners = append(winners, r)
				case !strings.HasPrefix(said, "ERROR: Another Ralph loop active (PID "):
					t.Errorf("%s, round %d: %s", name, round, said)
				}
			}
			if len(winners) != 1 {
				t.Errorf("%s, round %d: %d processes have the lock", name, round, len(winners))
			}
			for i, r := range racers {
				if (round+i)%2 == 0 {
					_ = r.Process.Kill()
				}
				_ = r.in.Close()
			}
			for _, r := range racers {
				_ = r.Wait()
			}
		}
	}
}

// racer is a process that takes the lock when it is told.
type racer struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newRacer(t *testing.T, dir string) *racer {
	t.Helper()
	r := &racer{Cmd: exec.Command(os.Args[0])}
	r.Env = append(os.Environ(), "TEST_CHILD_OF="+dir, "TEST_CHILD_DOES=race")
	out, _ := r.StdoutPipe()
	r.in, _ = r.StdinPipe()
	r.out = bufio.NewReader(out)
	noError(t, r.Start())
	return r
}

// TestLockAcrossContainers: each container has a process 1 of its own, and they share a directory.
func TestLockAcrossContainers(t *testing.T) {
	need.Program(t, "unshare")
	need.That(t, "namespaces", exec.Command("unshare", "-Urpf", "true").Run() == nil)
	for name, dir := range places(t) {
		inside := func() *other {
			o := &other{Cmd: exec.Command("unshare", "-Urpf", "--kill-child", os.Args[0])}
			o.Env = append(os.Environ(), "TEST_CHILD_OF="+dir, "TEST_CHILD_DOES=run")
			o.begin(t)
			return o
		}
		a := inside()
		if a.said != "ready" {
			t.Fatalf("%s: %s", name, a.said)
		}
		if b := inside(); b.said != "ERROR: Another Ralph loop active (PID 1)" {
			t.Errorf("%s: a second container: %s", name, b.said)
		}
		if name == "clone" {
			noError(t, os.Remove(filepath.Join(dir, LockFile)))
		}
		if b := inside(); b.said != "ERROR: Another Ralph loop active (PID 1)" {
			t.Errorf("%s: after a clean: %s", name, b.said)
		}
		_ = a.Process.Kill()
		_ = a.Wait()
		for range 100 { // unshare dies first, then the process that it has started
			if o, _ := LockOwner(dir); !o.Holds && !o.Elsewhere {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if b := inside(); b.said != "ready" {
			t.Errorf("%s: the owner was killed: %s", name, b.said)
		}
	}
}
