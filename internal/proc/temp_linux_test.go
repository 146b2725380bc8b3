package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMadeForTemporaryFiles makes a directory in another process and stays, or starts a process there that stays;
// TestTempDirOfTheDead starts it.
func TestMadeForTemporaryFiles(t *testing.T) {
	parent := os.Getenv("TEST_TEMP_PARENT")
	if parent == "" {
		return
	}
	dir, _, err := TempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed", "below")
	if err := errors.Join(os.MkdirAll(closed, 0o755), os.WriteFile(filepath.Join(closed, "file"), nil, 0o600),
		os.Symlink("/", filepath.Join(closed, "link")),
		os.Chmod(closed, 0), os.Chmod(filepath.Dir(closed), 0)); err != nil {
		t.Fatal(err)
	}
	_, _ = Run(t.Context(), Spec{Argv: []string{"sh", "-c", "sh -c 'echo $$ > left; cd /; exec sleep 600' & until [ -s " +
		"left ]; do sleep 0.01; done; mv left ../left.$$; exec sleep 600"}, Dir: dir, Env: os.Environ()})
}

// inAnother runs TestMadeForTemporaryFiles in a process of its own, and returns it with the process that it has started
// below another one.
func inAnother(t *testing.T, parent string) (other *exec.Cmd, left int) {
	t.Helper()
	other = exec.Command(os.Args[0], "-test.run=^TestMadeForTemporaryFiles$")
	other.Env = append(os.Environ(), "TEST_TEMP_PARENT="+parent)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = other.Process.Kill(), other.Wait() })
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(parent, "left.*")); len(names) == 1 {
			text, _ := os.ReadFile(names[0])
			_ = os.Remove(names[0])
			left, _ = strconv.Atoi(strings.TrimSpace(string(text)))
			t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
			return other, left
		}
	}
	t.Fatal("the other process does not come so far")
	return nil, 0
}

func alive(pid int) bool {
	s, ok := readStat(pid)
	return ok && !s.dead()
}

// forget lets a process look again.
func forget() {
	cleared.mu.Lock()
	defer cleared.mu.Unlock()
	cleared.dirs = nil
}

// What a killed process has left is removed with what runs in it; what a living one has, what others have made and what
// a link leads to is not.
func TestTempDirOfTheDead(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	file := filepath.Join(elsewhere, "file")
	kept := []string{"ralph-ABCDEFGHIJK1", "ralph-123456789", "ralph-abcdefghijkl", "ralph-", "other"}
	if err := errors.Join(os.WriteFile(file, nil, 0o600),
		os.Symlink(elsewhere, filepath.Join(parent, "ralph-AAAAAAAAAAAA")),
		os.WriteFile(filepath.Join(parent, "ralph-BBBBBBBBBBBB"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range kept {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kept = append(kept, "ralph-AAAAAAAAAAAA", "ralph-BBBBBBBBBBBB")
	dead, orphan := inAnother(t, parent)
	living, its := inAnother(t, parent)
	_, _ = dead.Process.Kill(), dead.Wait()
	if !alive(orphan) {
		t.Fatal("what the killed process has left has ended by itself: there is nothing to see")
	}
	forget()
	dir, remove, err := TempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(parent)
	if len(entries) != len(kept)+2 {
		t.Errorf("there is %v; want what others have made, the living process's and ours", entries)
	}
	for _, name := range kept {
		if _, err := os.Lstat(filepath.Join(parent, name)); err != nil {
			t.Error(err)
		}
	}
	if alive(orphan) || !alive(its) {
		t.Errorf("the killed process's child lives: %v; the living one's: %v", alive(orphan), alive(its))
	}
	remove()
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("our own is left: %v", err)
	}
	_, _ = living.Process.Kill(), living.Wait()
	forget()
	ClearTemp(parent)
	if entries, _ := os.ReadDir(parent); len(entries) != len(kept) {
		t.Errorf("there is %v in the end", entries)
	}
	if _, err := os.Stat(file); err != nil || alive(its) {
		t.Errorf("a link was followed (%v), or a process lives on: %v", err, alive(its))
	}
	for pid := 1; pid > 0; { // what the other processes had started came to us, if an earlier test has made us its heir
		pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	}
}

// Many make directories while others look for abandoned ones: nobody loses one.
func TestTempDirIsNotTakenAway(t *testing.T) {
	parent, stop := t.TempDir(), make(chan struct{})
	cleaner := make(chan struct{})
	go func() {
		defer close(cleaner)
		for {
			select {
			case <-stop:
				return
			default:
				forget()
				ClearTemp(parent)
			}
		}
	}()
	for range 80 {
		dir, remove, err := TempDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		remove()
	}
	close(stop)
	<-cleaner
}

// A process that a living harness has started is found, and not ended.
func TestAtWork(t *testing.T) {
	dir := t.TempDir()
	sleep := exec.Command("sleep", "600")
	sleep.Dir, sleep.Env = dir, []string{markPrefix + "ab=" + us(), "PATH=" + os.Getenv("PATH")}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = sleep.Process.Kill(), sleep.Wait() }()
	sleeps := func(args []string) bool { return args[0] == "sleep" }
	if pid, args := At([]string{dir}, sleeps); pid != sleep.Process.Pid || strings.Join(args, " ") != "sleep 600" {
		t.Errorf("found %d %q, want %d", pid, args, sleep.Process.Pid)
	}
	if pid, _ := At([]string{t.TempDir()}, sleeps); pid != 0 {
		t.Errorf("found %d in another directory", pid)
	}
	if n := EndLeft(dir); n != 0 || !alive(sleep.Process.Pid) {
		t.Errorf("%d processes of a living harness were ended", n)
	}
}
