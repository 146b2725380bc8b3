package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
)

// What is shown in a home of the run's own needs a place there, which bubblewrap makes where it is missing, with all
// rights, and through any link that leads to it. Whoever was in that home before may have put such links there, also
// ones that lead to bubblewrap's own view of this machine (/oldroot). So the places are made before, through none.

// places makes the places of mounts that lie in a home or in its cache. Mounts are triples as bubblewrap takes them.
func (s *Sandbox) places(mounts []string, at, in dirs) error {
	for i := 0; i+2 < len(mounts); i += 3 {
		dir, rel := at.cache, ""
		switch to := mounts[i+2]; {
		case over(in.cache, to) && to != in.cache:
			rel, _ = filepath.Rel(in.cache, to)
		case over(in.home, to) && to != in.home:
			dir = at.home
			rel, _ = filepath.Rel(in.home, to)
		default:
			continue
		}
		if err := s.place(dir, filepath.ToSlash(rel), mounts[i], mounts[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// place makes one. A link that is to be made there is made by bubblewrap.
func (s *Sandbox) place(dir, name, how, from string) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if how != "--symlink" && isDir(from) {
		return s.mkdirIn(root, name)
	}
	if err := s.mkdirIn(root, path.Dir(name)); err != nil {
		return err
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case how == "--symlink":
		if to, err := root.Readlink(name); err == nil && to == from {
			return nil
		}
		return files.RemoveIn(root, name)
	case info.Mode().IsRegular():
		return nil
	default:
		if err := files.RemoveIn(root, name); err != nil {
			return err
		}
	}
	if how == "--symlink" {
		return nil
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(give(root, name, s.o.As), file.Close())
}

// linkIn makes links in a home or in a cache, each to what leads names. A file in the place of one is removed.
func (s *Sandbox) linkIn(dir string, names []string, leads func(string) string) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		name, to := filepath.ToSlash(name), leads(name)
		if err := s.mkdirIn(root, path.Dir(name)); err != nil {
			return err
		}
		if at, err := root.Readlink(name); err == nil && at == to {
			continue
		}
		if err := files.RemoveIn(root, name); err != nil {
			return err
		}
		if err := root.Symlink(to, name); err != nil {
			return err
		}
		if err := give(root, name, s.o.As); err != nil {
			return err
		}
	}
	return nil
}
