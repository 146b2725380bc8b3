// Package files reads and replaces small files in places where an agent has been: no link is followed out of them,
// nothing that is not a regular file is opened, and a kill leaves the old file or the new one.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Max bounds what Read returns, in bytes: more than any file of settings may have.
const Max = 4 << 20

// Replace replaces a file in one step, and never writes through a link that someone left in its place.
func Replace(name string, content []byte) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(replace(root, filepath.Base(name), content, 0o644), root.Close())
}

// Put is Write by a path that holds no link of someone else's.
func Put(name string, content []byte, mode fs.FileMode) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(Write(root, filepath.Base(name), content, mode), root.Close())
}

// Create writes a file that does not exist; made is false when something is, which stays as it is. Its errors are of
// package invalid.
func Create(root *os.Root, name, content string) (made bool, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, invalid.Errorf("writing %s: %w", name, Advise(err))
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, invalid.Errorf("writing %s: %w", name, Advise(err))
	}
	_, err = io.WriteString(file, content)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, errors.Join(invalid.Errorf("writing %s: %w", name, Advise(err)), root.Remove(name))
	}
	return true, nil
}

// ReplaceIn puts a file in the place of another in one step, so that a kill leaves the old one or the new one.
func ReplaceIn(root *os.Root, name, content string) error {
	err := root.MkdirAll(path.Dir(name), 0o755)
	if err == nil {
		err = replace(root, name, []byte(content), 0o644)
	}
	if err != nil {
		return invalid.Errorf("writing %s: %w", name, Advise(err))
	}
	return nil
}

// Read reads a plain file, up to Max bytes.
func Read(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, NotRegular(info))
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err == nil {
		file, _, err = plain(file)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, Max))
}

// ReadIn reads a plain file of at most that many bytes. Opening a pipe would wait for its writer, so only a plain file
// is opened.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file; make it one")
	case info.Size() > most:
		return nil, fmt.Errorf("it has %d bytes; must be at most %d", info.Size(), most)
	}
	file, _, err := Open(root, name) // it may be something else by now
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// ReadIfThere is ReadIn where ok is false when there is no such file. Its errors are of package invalid.
func ReadIfThere(root *os.Root, name string, most int64) (content []byte, ok bool, err error) {
	content, err = ReadIn(root, name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, invalid.Errorf("reading %s: %w", name, Advise(err))
	}
	return content, true, nil
}

// Advise adds to an error of the file system what to do about it, where a person can.
func Advise(err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: .ralph must be a directory; move away what is there", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run ralph as a user who may read and write there", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; run ralph where it may write", err)
	}
	return err
}
