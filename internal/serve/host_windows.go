package serve

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// freeBytes is how much may still be stored where a directory lies.
func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fmt.Errorf("asking the file system: %w", err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("asking the file system: %w", err)
	}
	return int64(min(free, 1<<62)), nil
}
