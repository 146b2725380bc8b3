//go:build unix

package journal

import (
	"errors"
	"syscall"
)

// alive reports whether a process exists; one that belongs to someone else does.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
