//go:build unix

package sandbox

import (
	"os"
	"syscall"

	"github.com/ralph-loop/ralph/internal/proc"
)

// passable reports whether a user may pass through a directory.
func passable(dir string, as *proc.User) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case !ok:
		return false
	case owner.Uid == as.UID:
		return mode&0o100 != 0
	case owner.Gid == as.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
