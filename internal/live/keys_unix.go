//go:build unix

package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// quiet keeps a terminal from showing the keys that are pressed, which would be drawn into the block. Ctrl-C stays a
// signal. show takes it back. Where in is no terminal, nothing happens.
func quiet(in *os.File) (show func()) {
	if in == nil {
		return func() {}
	}
	fd := int(in.Fd())
	before, err := unix.IoctlGetTermios(fd, getState)
	if err != nil {
		return func() {}
	}
	silent := *before
	silent.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, setState, &silent) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, setState, before) }
}
