package git

import (
	"io/fs"
	"syscall"
)

// changeTime is when the file was last changed in any way; unlike the time of modification no one can set it.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}

// inodeOf tells a file from another one that was put in its place.
func inodeOf(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Ino)
	}
	return 0
}
