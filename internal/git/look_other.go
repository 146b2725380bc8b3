//go:build !linux

package git

import "io/fs"

// changeTime is not told by every system; size, mode and the time of modification must do there.
func changeTime(fs.FileInfo) int64 { return 0 }

// inodeOf is not told by every system.
func inodeOf(fs.FileInfo) int64 { return 0 }
