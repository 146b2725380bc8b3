package proc

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// holdDir locks a file in the directory, since no directory can be locked here. It is errHeld when someone else has
// it.
func holdDir(dir string) (*os.File, error) {
	held, err := os.OpenFile(filepath.Join(dir, "held"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(held.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if err == nil {
		return held, nil
	}
	_ = held.Close()
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil, errNoLocks
	}
	return nil, errHeld
}

// letGo gives the lock back before the directory is removed: no one removes an open file here.
func letGo(held *os.File, removed bool) {
	if held != nil && !removed {
		_ = held.Close()
	}
}
