package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Partial matches, after a file's name, the names of those that were about to replace it when their process was killed.
const Partial = partial + "*"

const partial = ".new-"

// beside names a new place next to a file for its next content: several runs of a clone may be replacing the same file.
func beside(name string) string { return name + partial + rand.Text()[:8] }

// Open opens a plain file to be read, and never waits for the writer of a pipe.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return plain(file)
}

func plain(file *os.File) (*os.File, fs.FileInfo, error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = NotRegular(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// NotRegular says what is in the place of a plain file; nil without an info.
func NotRegular(info fs.FileInfo) error {
	switch {
	case info == nil:
		return nil
	case info.IsDir():
		return errors.New("it is a directory, not a file; move it away")
	}
	return errors.New("it is a pipe or a device, not a file; move it away")
}
