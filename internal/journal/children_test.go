//go:build unix

package journal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"
	"testing"
)

// TestMain is also the child that registers: until its standard input ends, or it is killed.
func TestMain(m *testing.M) {
	dir, what := os.Getenv("TEST_CHILD_OF"), os.Getenv("TEST_CHILD_DOES")
	if dir == "" {
		os.Exit(m.Run())
	}
	take := map[string]func(string) (func(), error){
		"register": Register,
		"lock":     LockSupervisor,
		"pretend":  func(dir string) (func(), error) { return register(dir, os.Getppid()) },
		"run":      quietLock,
		"race":     lockWhenTold,
		"look":     sayOwner,
		"write":    writeForEver,
	}[what]
	release, err := take(dir)
	if err != nil {
		_, _ = os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("ready\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	release()
}

type other struct {
	*exec.Cmd
	said string
	in   io.Closer
}

// another is a process that has done something with dir.
func another(t *testing.T, dir, does string) *other {
	t.Helper()
	o := &other{Cmd: exec.Command(os.Args[0])}
	o.Env = append(os.Environ(), "TEST_CHILD_OF="+dir, "TEST_CHILD_DOES="+does)
	o.begin(t)
	return o
}

func (o *other) begin(t *testing.T) {
	t.Helper()
	out, _ := o.StdoutPipe()
	o.in, _ = o.StdinPipe()
	noError(t, o.Start())
	t.Cleanup(func() { _ = o.Process.Kill(); _ = o.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	o.said = lines.Text()
}

func children(t *testing.T, dir string) []int {
	t.Helper()
	pids, err := Children(dir)
	noError(t, err)
	return pids
}

func TestChildrenAreThoseWhoLive(t *testing.T) {
	dir := t.TempDir()
	if pids := children(t, dir); pids != nil {
		t.Errorf("nobody registered: %v", pids)
	}
	for end, stop := range map[string]func(*other){
		"released": func(o *other) { _ = o.in.Close(); _ = o.Wait() },
		"killed":   func(o *other) { _ = o.Process.Kill(); _ = o.Wait() },
	} {
		a := another(t, dir, "register")
		_ = a.Process.Signal(syscall.SIGSTOP) // which is alive
		for range 3 {                         // looking does not take its lock
			if pids := children(t, dir); !reflect.DeepEqual(pids, []int{a.Process.Pid}) {
				t.Errorf("%s: children = %v, want %d", end, pids, a.Process.Pid)
			}
		}
		_ = a.Process.Signal(syscall.SIGCONT)
		stop(a)
		if pids := children(t, dir); len(pids) > 0 {
			t.Errorf("%s: children = %v", end, pids)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, childrenDir, "*")); len(left) > 0 {
			t.Errorf("%s: %v is left", end, left)
		}
	}
}

// Nobody is a child because somebody else says so: what counts would be ended.
func TestChildrenCannotBeNamedByOthers(t *testing.T) {
	dir := t.TempDir()
	if o := another(t, dir, "pretend"); o.said != "ready" { // under our number; so we look as a third process would
		t.Fatal(o.said)
	}
	root, err := os.OpenRoot(dir)
	noError(t, err)
	defer root.Close()
	if holds(root, filepath.Join(childrenDir, strconv.Itoa(os.Getpid())), os.Getpid()) {
		t.Error("a file that another process holds counts")
	}
	for _, name := range []string{"1", "0", "-5", "garbage", "99999999"} {
		noError(t, os.WriteFile(filepath.Join(dir, childrenDir, name), nil, 0o600))
	}
	noError(t, syscall.Mkfifo(filepath.Join(dir, childrenDir, "77"), 0o600))
	if pids := children(t, dir); len(pids) > 0 {
		t.Errorf("children = %v", pids)
	}
}

func TestRegisterAgain(t *testing.T) {
	dir := t.TempDir()
	release, err := Register(dir)
	noError(t, err)
	if pids := children(t, dir); len(pids) > 0 {
		t.Errorf("we are our own child: %v", pids)
	}
	release()
	if left, _ := filepath.Glob(filepath.Join(dir, childrenDir, "*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := Register(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

func TestOneSupervisor(t *testing.T) {
	dir := t.TempDir()
	a := another(t, dir, "lock")
	var held *HeldError
	if _, err := LockSupervisor(dir); !errors.As(err, &held) || held.PID != a.Process.Pid {
		t.Fatalf("a second supervisor: %v", err)
	}
	if unlock, err := Lock(dir, t.Logf); err != nil {
		t.Errorf("a run in the same directory: %v", err)
	} else {
		unlock()
	}
	_ = a.Process.Kill()
	_ = a.Wait()
	unlock, err := LockSupervisor(dir)
	if err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	unlock()
}
