//go:build !linux

package git

import "io/fs"

// systemStamp returns nothing: not every system has an inode and a time of change.
func systemStamp(fs.FileInfo) (inode, changed int64) { return 0, 0 }
