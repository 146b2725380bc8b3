package sandbox

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// dirs are where a use's files lie on this machine.
type dirs struct{ home, cache, temp string }

func (s *Sandbox) dirs(u Use) dirs {
	in := filepath.Join(s.scratch, u.dirName())
	return dirs{filepath.Join(in, "home"), filepath.Join(s.cacheDir(u), "cache"), filepath.Join(in, "tmp")}
}

// copying is how something is copied into a home.
func (s *Sandbox) copying(most int64) files.Copying {
	c := files.Copying{Most: most}
	if s.o.As != nil {
		c.Give, c.UID, c.GID = true, int(s.o.As.UID), int(s.o.As.GID)
	}
	return c
}

// copyTree copies one directory into another, which is made.
func (s *Sandbox) copyTree(from, to string, c files.Copying) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	return within(from, func(src *os.Root) error {
		return within(to, func(dst *os.Root) error { return files.CopyTree(src, dst, c) })
	})
}

// within does something in a directory, through no link.
func within(dir string, do func(*os.Root) error) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// writeIn writes a file of a home, through no link.
func (s *Sandbox) writeIn(home, name string, content []byte) error {
	return within(home, func(root *os.Root) error {
		if err := files.Write(root, name, content, 0o644); err != nil {
			return err
		}
		return give(root, name, s.o.As)
	})
}

// mkdirIn makes a directory in a home, and those that lead to it. Whatever is in the place of one goes.
func mkdirIn(root *os.Root, name string, as *proc.User) error {
	if name = path.Clean(filepath.ToSlash(name)); name == "." {
		return nil
	}
	if err := files.MkdirAll(root, name, 0o700); err != nil {
		return err
	}
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		if err := give(root, at, as); err != nil {
			return err
		}
	}
	return nil
}

// give makes something in a directory the user's whom the boxes run as.
func give(root *os.Root, name string, as *proc.User) error {
	if as == nil {
		return nil
	}
	return root.Lchown(name, int(as.UID), int(as.GID))
}

// makeOwn makes directories in another one for the user whom boxes run as, who passes through that and does not look
// around.
func (s *Sandbox) makeOwn(in string, names ...string) error {
	for _, name := range names {
		at := filepath.Join(in, name)
		err := os.MkdirAll(at, 0o700)
		if err == nil && s.o.As != nil {
			err = os.Lchown(at, int(s.o.As.UID), int(s.o.As.GID))
		}
		if err != nil {
			return err
		}
	}
	if s.o.As == nil {
		return nil
	}
	return os.Chmod(in, 0o711)
}

// giveAll gives a directory with all that is in it.
func (s *Sandbox) giveAll(dir string) error {
	if s.o.As == nil {
		return nil
	}
	return within(dir, func(root *os.Root) error {
		if err := give(root, ".", s.o.As); err != nil {
			return err
		}
		return files.Walk(root, func(e files.Entry) error { return give(e.In, e.Name, s.o.As) })
	})
}

// unshare makes every file below a directory one that no other name leads to, where a box could make another: by that
// name it could still be written when the directory no longer can.
func (s *Sandbox) unshare(dir string) error {
	if s.Mapped() { // each directory is mounted by itself there, and no name leads from one to another
		return nil
	}
	return within(dir, func(root *os.Root) error {
		return files.Walk(root, func(e files.Entry) error {
			if !hasOtherNames(e.Info) {
				return nil
			}
			return files.CopyAnew(e.In, e.Name, s.copying(0))
		})
	})
}

// copyInto copies a file or a directory to a name in another directory.
func copyInto(from string, to *os.Root, as string, c files.Copying) error {
	src, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer src.Close()
	return files.Copy(src, filepath.Base(from), to, as, c)
}

// Mapped reports whether checks see the tree that they run in at the worktree's path.
func (s *Sandbox) Mapped() bool { return s != nil && (s.Mode == Bwrap || s.Mode == Container) }

// What is shown in a home of the run's own needs a place there, which bubblewrap makes where it is missing, with all
// rights, and through any link that leads to it. Earlier processes in that home may have put such links there, also
// ones that lead to bubblewrap's own view of this machine (/oldroot). So the places are made before, through none, and
// links are made there instead of in the box: bubblewrap before 0.9 takes none that exists.

// places makes the places of mounts within a home or its cache, and returns the mounts without the links that it has
// made. Mounts are triples as bubblewrap takes them.
func (s *Sandbox) places(mounts []string, at, in dirs) (rest []string, err error) {
	for m := range slices.Chunk(mounts, 3) {
		dir, rel := at.cache, ""
		switch to := m[2]; {
		case over(in.cache, to) && to != in.cache:
			rel, _ = filepath.Rel(in.cache, to)
		case over(in.home, to) && to != in.home:
			dir = at.home
			rel, _ = filepath.Rel(in.home, to)
		}
		switch {
		case rel == "":
		case m[0] == "--symlink":
			if err := s.linkIn(dir, map[string]string{rel: m[1]}); err != nil {
				return nil, err
			}
			continue
		default:
			if err := s.place(dir, filepath.ToSlash(rel), m[1]); err != nil {
				return nil, err
			}
		}
		rest = append(rest, m...)
	}
	return rest, nil
}

// place makes one.
func (s *Sandbox) place(dir, name, from string) error {
	return within(dir, func(root *os.Root) error {
		if isDir(from) {
			return mkdirIn(root, name, s.o.As)
		}
		isFile := func() bool {
			info, err := root.Lstat(name)
			return err == nil && info.Mode().IsRegular()
		}
		return putIn(root, name, s.o.As, isFile, func() error {
			file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			return file.Close()
		})
	})
}

// linkIn makes links in a home or in a cache, by name and what each leads to. A file in the place of one is removed.
func (s *Sandbox) linkIn(dir string, links map[string]string) error {
	return within(dir, func(root *os.Root) error {
		for _, at := range slices.Sorted(maps.Keys(links)) {
			to, name := links[at], filepath.ToSlash(at)
			isLink := func() bool {
				at, err := root.Readlink(name)
				return err == nil && at == to
			}
			if err := putIn(root, name, s.o.As, isLink, func() error { return root.Symlink(to, name) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// putIn makes something in a home, in the place of whatever has its name, unless it exists.
func putIn(root *os.Root, name string, as *proc.User, isThere func() bool, put func() error) error {
	if err := mkdirIn(root, path.Dir(name), as); err != nil || isThere() {
		return err
	}
	if err := files.RemoveIn(root, name); err != nil {
		return err
	}
	if err := put(); err != nil {
		return err
	}
	return give(root, name, as)
}

// cacheDir is where the caches of a use lie.
func (s *Sandbox) cacheDir(u Use) string {
	if !s.sealedCaches && (u == Setup || u == Checks) {
		return s.base
	}
	return filepath.Join(s.scratch, u.dirName())
}

// nothing is an empty file to put over others.
func (s *Sandbox) nothing() string { return filepath.Join(s.scratch, "nothing") }
