package proc

import (
	"errors"
	"os"
	"syscall"
)

// tree is the process alone: there is no group to end here.
type tree struct{ root int }

func newMark() string                  { return "TREE_MARK_" }
func newTree(root int, _ string) *tree { return &tree{root} }

func (t *tree) terminate() { t.kill() }
func (t *tree) gone() bool { return true }

func (t *tree) kill() {
	if p, err := os.FindProcess(t.root); err == nil {
		_ = p.Kill()
	}
}

func attributes(*User) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func renouncePrivileges() error {
	return errors.New("running as another user is not supported on Windows")
}

func signalName(*os.ProcessState) string { return "" }

// HideSelf does nothing here.
func HideSelf() error { return nil }
