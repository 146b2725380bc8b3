//go:build unix

package serve

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes is how much may still be stored where a directory lies.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("asking the file system: %w", err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // of other types elsewhere
}
