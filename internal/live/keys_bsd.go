//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package live

import "golang.org/x/sys/unix"

// The requests that read and set the state of a terminal.
const (
	getState = unix.TIOCGETA
	setState = unix.TIOCSETA
)
