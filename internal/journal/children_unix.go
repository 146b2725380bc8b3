//go:build unix

package journal

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hold opens a file and takes it for this process, for as long as the file is open. It is an error, a *HeldError, when
// another process has it. The lock is a record lock of the whole file: the system ends it with the process, does not
// hand it to children, and says whose it is.
func hold(root *os.Root, name string) (*os.File, error) {
	owner := 0
	for range 10 { // who finds a file that no one holds removes it, perhaps this one before we hold it
		file, err := openPlain(root, name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if lock(file) && is(root, name, file) {
			return file, nil
		}
		owner = holder(file)
		_ = file.Close()
		time.Sleep(time.Millisecond)
	}
	if owner > 0 {
		return nil, &HeldError{owner}
	}
	return nil, fmt.Errorf("%s is held by a process that cannot be seen from here, perhaps of another container", name)
}

// holds reports whether a process has the file. A file that no one has is removed.
func holds(root *os.Root, name string, pid int) bool {
	file, err := openPlain(root, name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	owner := holder(file)
	if owner == 0 && lock(file) && is(root, name, file) {
		_ = root.Remove(name)
	}
	return owner == pid
}

// holder is the process that has the file, 0 when none has it, -1 when it cannot be told.
func holder(file *os.File) int {
	asked := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &asked)
	switch {
	case err != nil || asked.Type != unix.F_UNLCK && asked.Pid <= 0: // a process that we cannot see from here
		return -1
	case asked.Type == unix.F_UNLCK:
		return 0
	}
	return int(asked.Pid)
}
