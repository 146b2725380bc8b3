//go:build unix

package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// holdDir locks a directory of our user. It is errHeld when another process has it, and when it has been removed
// meanwhile.
func holdDir(dir string) (*os.File, error) {
	held, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := lockDir(dir, held); err != nil {
		_ = held.Close()
		return nil, err
	}
	return held, nil
}

func lockDir(dir string, held *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(held.Fd()), &stat); err != nil {
		return err
	}
	if int(stat.Uid) != os.Geteuid() {
		return errHeld
	}
	for {
		err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		case err != nil: // a network's, as a rule
			return errNoLocks
		}
		break
	}
	there, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	open, err := held.Stat()
	if err != nil || !os.SameFile(there, open) {
		return errHeld
	}
	return nil
}

// letGo gives a directory's lock back, after it has been removed.
func letGo(held *os.File, removed bool) {
	if held != nil && removed {
		_ = held.Close()
	}
}
