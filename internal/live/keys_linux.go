//go:build linux

package live

import "golang.org/x/sys/unix"

// How the state of a terminal is asked for and set.
const (
	getState = unix.TCGETS
	setState = unix.TCSETS
)
