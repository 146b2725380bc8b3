//go:build unix && !linux

package proc

import (
	"syscall"
	"time"
)

// tree is a process group: what moves to a session of its own is out of reach here.
type tree struct{ root int }

func newMark() string                  { return "TREE_MARK_" }
func newTree(root int, _ string) *tree { return &tree{root} }

func (t *tree) terminate() { _ = syscall.Kill(-t.root, syscall.SIGTERM) }

func (t *tree) gone() bool { return syscall.Kill(-t.root, 0) == syscall.ESRCH }

func (t *tree) kill() {
	_ = syscall.Kill(-t.root, syscall.SIGKILL)
	for i := 0; i < 50 && !t.gone(); i++ {
		time.Sleep(10 * time.Millisecond)
	}
}

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
