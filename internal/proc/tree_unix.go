//go:build unix && !linux

package proc

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// tree is a process group: what moves to a session of its own is out of reach here, and what is spared must have done
// so.
type tree struct{ groups []int }

func newTree(string) (*tree, string, error) { return new(tree), markPrefix + "=1", nil }

func (t *tree) startRoot(cmd *exec.Cmd, from *starter) error {
	err := from.start(cmd)
	if err == nil {
		t.groups = []int{cmd.Process.Pid}
	}
	return err
}

func (t *tree) waited()  {}
func (t *tree) close()   {}
func (t *tree) keep(int) {}
func (t *tree) halt()    {}

// innermost is the root: what keeps a box here passes signals on.
func (t *tree) innermost(root *os.Process) *os.Process { return root }

func (t *tree) signal(s syscall.Signal) {
	for _, group := range t.groups {
		_ = syscall.Kill(-group, s)
	}
}

func (t *tree) terminate() {
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
}

func (t *tree) gone() bool {
	return !slices.ContainsFunc(t.groups, func(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH })
}

func (t *tree) spare(pids []int) bool { return len(pids) > 0 }

// take makes a tree of the groups of processes that were spared.
func take(pids []int) (*tree, error) {
	t := new(tree)
	for _, pid := range pids {
		if pid > 1 && pid != os.Getpid() {
			t.groups = append(t.groups, pid)
		}
	}
	return t, nil
}

func (t *tree) cut() { t.signal(syscall.SIGKILL) }

func (t *tree) kill() {
	for i := 0; i < 50 && !t.gone(); i++ {
		t.cut()
		time.Sleep(10 * time.Millisecond)
	}
}

// bytesThere asks a pipe how much is in it: FIONREAD.
const bytesThere = 0x4004667f

func thisThread() int { return 0 }

func attributes(as *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		a.Credential = as.credential()
	}
	return a
}

func renouncePrivileges() error { return nil }

// HideSelf does nothing here: there is no /proc to hide from.
func HideSelf() error { return nil }
