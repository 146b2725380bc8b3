package engine

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copier copies paths from one directory to another: files, directories and links, which stay links.
type copier struct {
	from, to string
	// rewrite leads what a text says of the one directory to the other; nil: nothing has to be led.
	rewrite func(text string) string
}

// mostRewritten is the size above which no file is looked through for paths.
const mostRewritten = 256 << 10

func (c copier) copy(name string) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.to, name)), 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(c.from, name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.from, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(c.to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(to, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			return c.link(at, to)
		case info.Mode().IsRegular():
			return c.file(at, to, info)
		}
		return nil
	})
}

func (c copier) link(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if c.rewrite != nil && filepath.IsAbs(target) {
		target = c.rewrite(target)
	}
	return os.Symlink(target, to)
}

// file copies a file. A script that names the directory it was made for, as those of a virtual environment do, is led
// to the other one.
func (c copier) file(from, to string, info fs.FileInfo) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if c.rewrite != nil && info.Size() <= mostRewritten {
		text, err := io.ReadAll(in)
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			text = []byte(c.rewrite(string(text)))
		}
		_, writing := out.Write(text)
		return errors.Join(err, writing)
	}
	if _, err := io.Copy(out, in); err != nil { // by the system, which shares the blocks where the file system can
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
