package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
)

// copyTree copies the files below a name from one directory to another, but nothing called .git: regular files and
// links, which stay links. any reports whether there was one. The .gitignore files above come along. No name is
// resolved outside of the two directories.
func copyTree(from, to, name string) (any bool, err error) {
	src, err := os.OpenRoot(from)
	if err != nil {
		return false, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return false, err
	}
	defer dst.Close()
	for above := filepath.Dir(name); ; above = filepath.Dir(above) {
		ignore := filepath.Join(above, ".gitignore")
		if info, err := src.Lstat(ignore); err == nil && info.Mode().IsRegular() {
			if err := copyFile(src, dst, ignore); err != nil && !errors.Is(err, fs.ErrExist) {
				return false, err
			}
		}
		if above == "." {
			break
		}
	}
	err = filepath.WalkDir(filepath.Join(from, name), func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if file, err = filepath.Rel(from, file); err != nil {
			return err
		}
		switch {
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git":
			return nil
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			any = true
			return copyLink(src, dst, file)
		case d.Type().IsRegular():
			any = true
			return copyFile(src, dst, file)
		}
		return nil
	})
	return any, err
}

func copyLink(src, dst *os.Root, name string) error {
	target, err := src.Readlink(name)
	if err != nil {
		return err
	}
	if err := dst.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return dst.Symlink(target, name)
}

func copyFile(src, dst *os.Root, name string) error {
	in, info, err := files.Open(src, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := dst.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	out, err := dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|info.Mode().Perm()&0o111)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
