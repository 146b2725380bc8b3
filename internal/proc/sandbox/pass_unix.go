//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/proc"
)

// belongs reports whether a directory and what is in it are a user's and its group's: a namespace of users knows no one
// else, so that nothing of another can be written over there.
func belongs(dir string, as proc.User) bool {
	entries, err := os.ReadDir(dir)
	for i := range len(entries) + 1 {
		at := dir
		if i > 0 {
			at = filepath.Join(dir, entries[i-1].Name())
		}
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != as.UID || owner.Gid != as.GID {
			return false
		}
	}
	return err == nil
}

// hasOtherNames reports whether a file has another name than the one that it was found by.
func hasOtherNames(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && of.Nlink > 1
}

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
