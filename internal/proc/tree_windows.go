package proc

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// askToEnd and killAll are for a process alone: there is no group to end here.
func askToEnd(p *os.Process) { _ = p.Kill() }

func killAll(p *os.Process) { _ = p.Kill() }

func lives(*os.Process) bool { return false }

// interrupt does nothing: there is no signal for it here.
func interrupt(*os.Process) {}

func pending(*os.File) int { return 0 }

func attributes(*User) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func renouncePrivileges() error {
	return errors.New("running as another user is not supported on Windows")
}

func signalName(*os.ProcessState) string { return "" }

func signalOf(int) string { return "" }

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
