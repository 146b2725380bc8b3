//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir puts the names in a directory on the disk. One that is gone has none.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return possible(dir.Sync())
}

// possible is the error of a sync, unless the file system has none to offer.
func possible(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EROFS) {
		return nil
	}
	return err
}
