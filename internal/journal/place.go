package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The agent works where the journal lies, and may remove or replace anything there: a "git clean -fdx" takes all that
// no commit holds. What is open stays open, so nothing of the journal is lost; and what is in its place is no one's
// word.

// restoreFile makes the file in the journal's place the one that is open. One that is gone is written again, unless its
// place now leads elsewhere.
func (j *Journal) restoreFile() error {
	mine, err := j.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(j.name); err == nil && os.SameFile(mine, there) {
		return j.mend(mine.Size())
	}
	if err := j.checkLinks(); err != nil {
		return err
	}
	dir := filepath.Dir(j.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(j.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(j.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, io.NewSectionReader(j.file, 0, j.size)); err != nil {
		return errors.Join(err, file.Close())
	}
	old := j.file
	j.file, j.sync.upTo, j.sync.placed = file, 0, false
	return old.Close()
}

// fix writes the text again over one that has been cut or continued with: what is appended would else not be read as it
// was written.
func (j *Journal) mend(size int64) error {
	if size == j.size {
		return nil
	}
	j.sync.upTo = 0
	if j.forget { // no one has the text: what is missing shows when the journal is read again
		return j.file.Truncate(min(size, j.size))
	}
	_, err := j.file.WriteAt(j.raw, 0)
	return errors.Join(err, j.file.Truncate(j.size))
}

// checkLinks reports a link in the way to the journal that did not exist when it was opened.
func (j *Journal) checkLinks() error {
	dir := filepath.Dir(j.name)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err != nil && at != filepath.Dir(at) {
			continue // it is gone, and so is what was in it
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(at, dir)
		if err == nil && filepath.Join(real, below) != j.real {
			err = fmt.Errorf("%s now leads to %s, and what is written there would be written elsewhere: take it away, then "+
				"begin again", at, real)
		}
		return err
	}
}

var errNotPlain = errors.New("is not a regular file")

// plain opens a file to read, when it is one: whoever opens a pipe that someone left in its place waits forever.
func plain(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w: remove it", name, errNotPlain)
	}
	return os.Open(name)
}

// read is the text of a plain file.
func read(name string) ([]byte, error) {
	file, err := plain(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
