//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pending is how many bytes are in a pipe now.
func pending(pipe *os.File) (n int) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), bytesThere) })
	return n
}
