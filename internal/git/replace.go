package git

import (
	"errors"
	"io/fs"
	"os"
)

// newSuffix ends the name of a file that is about to take another one's place.
const newSuffix = ".ralph-new"

// replace gives a file another content in one step: a process that is killed leaves what was there or what is to be,
// never a part of it. What lies in its place is not written through.
func replace(path string, text []byte, mode fs.FileMode) error {
	return replaceVia(path+newSuffix, path, text, mode)
}

// replaceVia is replace with a place for the new content in the same file system. What a killed process has left there
// is in nobody's way.
func replaceVia(via, path string, text []byte, mode fs.FileMode) error {
	if err := os.RemoveAll(via); err != nil {
		return err
	}
	file, err := os.OpenFile(via, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = rename(via, path)
	}
	if err != nil {
		_ = os.Remove(via)
	}
	return err
}

// rename puts a file in the place of whatever lies there.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if err == nil || !isDirectory(to) {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}
