package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// tree is processes alone: there is no group to end here.
type tree struct{ list []*os.Process }

func newTree(string) (*tree, string, error) { return new(tree), markPrefix + "=1", nil }

func (t *tree) startRoot(cmd *exec.Cmd, from *starter) error {
	err := from.start(cmd)
	if err == nil {
		t.list = []*os.Process{cmd.Process}
	}
	return err
}

func (t *tree) waited()  {}
func (t *tree) close()   {}
func (t *tree) keep(int) {}
func (t *tree) halt()    {}

// innermost is the root: what keeps a box here passes signals on.
func (t *tree) innermost(root *os.Process) *os.Process { return root }

func (t *tree) terminate() { t.cut() }
func (t *tree) kill()      { t.cut() }
func (t *tree) gone() bool { return true }

func (t *tree) cut() {
	for _, p := range t.list {
		_ = p.Kill()
	}
}

func (t *tree) spare(pids []int) bool { return len(pids) > 0 }

// take makes a tree of processes that were spared.
func take(pids []int) (*tree, error) {
	t := new(tree)
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			t.list = append(t.list, p)
		}
	}
	return t, nil
}

// interrupt does nothing: there is no signal for it here.
func interrupt(*os.Process) {}

func pending(*os.File) int { return 0 }

func thisThread() int { return 0 }

func attributes(*User) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func renouncePrivileges() error {
	return errors.New("running as another user is not supported on Windows")
}

func signalName(*os.ProcessState) string { return "" }

func signalOf(int) string { return "" }

// HideSelf does nothing here.
func HideSelf() error { return nil }

// holdDir locks a file in the directory, because no directory can be locked here. got is false when someone else has it.
// The error says that the file system keeps no locks.
func holdDir(dir string) (held *os.File, got bool, err error) {
	held, err = os.OpenFile(filepath.Join(dir, "held"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, nil //nolint:nilerr // it is gone
	}
	err = windows.LockFileEx(windows.Handle(held.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if err == nil {
		return held, true, nil
	}
	_ = held.Close()
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil, false, err
	}
	return nil, false, nil
}

// letGo gives the lock back before the directory is removed: no one removes an open file here.
func letGo(held *os.File, removed bool) {
	if held != nil && !removed {
		_ = held.Close()
	}
}
