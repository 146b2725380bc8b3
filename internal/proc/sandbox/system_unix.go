//go:build unix

package sandbox

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/proc"
)

// received are the files that someone sends, if they are as many as wanted.
func received(c *net.UnixConn, want int) (files []*os.File, ok bool) {
	told := make([]byte, unix.CmsgSpace(4*want))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), told)
	if err != nil {
		return nil, false
	}
	messages, err := unix.ParseSocketControlMessage(told[:n])
	if err != nil || len(messages) != 1 {
		return nil, false
	}
	rights, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, false
	}
	for _, fd := range rights {
		unix.CloseOnExec(fd)
		files = append(files, os.NewFile(uintptr(fd), "box"))
	}
	if len(files) != want {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, false
	}
	return files, true
}

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
