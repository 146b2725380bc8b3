//go:build linux

package live

import "golang.org/x/sys/unix"

// The requests that read and set the state of a terminal.
const (
	getState = unix.TCGETS
	setState = unix.TCSETS
)
