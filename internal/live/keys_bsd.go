//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package live

import "golang.org/x/sys/unix"

// How the state of a terminal is asked for and set.
const (
	getState = unix.TIOCGETA
	setState = unix.TIOCSETA
)
