package journal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the byte of a file that is locked, far behind its content: what is locked here, no one else can read.
const lockedByte = 1 << 30

// tryLock locks the file for as long as it is open; got is false when someone else has locked it.
func tryLock(file *os.File) (got bool, err error) {
	at := windows.Overlapped{Offset: lockedByte}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// withoutLocks reports whether a file could not be locked because its file system has no locks.
func withoutLocks(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// names is not asked for here.
func names(fs.FileInfo) int { return 1 }

// claim does nothing: the locks of this system do not say whose they are.
func (f *lockFile) claim() {}

// lockedBy never tells.
func lockedBy(*os.File) (pid int, locked bool) { return 0, false }

// has believes the number in the file, if such a process lives.
func has(_ *os.File, written int) Owner {
	if written == 0 {
		return Owner{}
	}
	return Owner{PID: written, Alive: alive(written), Holds: alive(written)}
}
