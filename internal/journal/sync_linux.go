package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dataSync puts the content of a file on the disk, with what is needed to read it: not the time of its last change.
func dataSync(file *os.File) error {
	conn, err := file.SyscallConn() // keeps the file open as long
	if err != nil {
		return err
	}
	if done := conn.Control(func(fd uintptr) {
		for {
			if err = unix.Fdatasync(int(fd)); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}); done != nil {
		return done
	}
	return possible(err)
}
