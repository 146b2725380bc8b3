//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func lock(file *os.File) bool {
	return unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}) == nil
}

// tryLock locks the whole file for as long as it is open; got is false when someone else has locked it. This lock
// belongs to the open file: closing another descriptor of the same file does not drop it, as it would drop a lock of
// fcntl.
func tryLock(file *os.File) (got bool, err error) {
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// withoutLocks reports whether a file could not be locked because its file system has no locks.
func withoutLocks(err error) bool {
	return errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

// names is how many names a file has.
func names(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

// tellsLocks says that the system tells whether a file is locked.
const tellsLocks = true

// tellsOwner says that the system tells who has a lock. Elsewhere than on Linux a file has locks of one kind only,
// those of flock, and these have no owner.
const tellsOwner = runtime.GOOS == "linux"

// claim adds a lock of fcntl to a file that is locked, because the system says whose those are. Nothing depends on it:
// it may fail, as on NFS, where both kinds are one.
func claim(file *os.File) {
	if tellsOwner {
		lock(file)
	}
}

// lockedBy reports whether another process has a lock of fcntl on the file, and which. pid is -1 when it cannot be seen
// from here.
func lockedBy(file *os.File) (pid int, locked bool) {
	asked := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &asked)
	switch {
	case err != nil || asked.Type == unix.F_UNLCK:
		return 0, false
	case asked.Pid <= 0:
		return -1, true
	}
	return int(asked.Pid), true
}

// alive reports whether a process exists; one that belongs to someone else does.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
