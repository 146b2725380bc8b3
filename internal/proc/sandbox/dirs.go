package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// turn reports whether it is an agent that runs.
func (u Use) turn() bool { return u == Works || u == Reads }

// dirName is the name of a use's directory.
func (u Use) dirName() string {
	return map[Use]string{Setup: "setup", SetupForAgent: "agent", Checks: "checks", Works: "agent", Reads: "reader"}[u]
}

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
	src, err := files.OpenDir(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := files.OpenDir(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	return files.CopyTree(src, dst, c)
}

// writeIn writes a file of a home, through no link.
func (s *Sandbox) writeIn(home, name string, content []byte) error {
	root, err := files.OpenDir(home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := files.Write(root, name, content, 0o644); err != nil {
		return err
	}
	return give(root, name, s.o.As)
}

// mkdirIn makes a directory in a home, and those that lead to it. Whatever is in the place of one goes.
func (s *Sandbox) mkdirIn(root *os.Root, name string) error {
	if name = path.Clean(filepath.ToSlash(name)); name == "." {
		return nil
	}
	if err := files.MkdirAll(root, name, 0o700); err != nil {
		return err
	}
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		if err := give(root, at, s.o.As); err != nil {
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

// giveAll gives a directory with all that is in it.
func (s *Sandbox) giveAll(dir string) error {
	if s.o.As == nil {
		return nil
	}
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := give(root, ".", s.o.As); err != nil {
		return err
	}
	return files.Walk(root, func(e files.Entry) error { return give(e.In, e.Name, s.o.As) })
}

// unshare makes every file below a directory one that no other name leads to, where a box could make another: by that
// name it could still be written when the directory no longer can.
func (s *Sandbox) unshare(dir string) error {
	if s.Mapped() { // each directory is mounted by itself there, and no name leads from one to another
		return nil
	}
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return files.Walk(root, func(e files.Entry) error {
		if !hasOtherNames(e.Info) {
			return nil
		}
		return files.CopyAnew(e.In, e.Name, s.copying(0))
	})
}

// copyProgram copies a program that everyone may run.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o755), out.Close()) // whatever is masked
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// missing reports whether an error says that something does not exist, or not for us.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// Mapped reports whether checks see the tree that they run in at the worktree's path.
func (s *Sandbox) Mapped() bool { return s != nil && (s.Mode == Bwrap || s.Mode == Container) }
