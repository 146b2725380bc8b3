package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// objectsAt is where a box has the nth directory of objects.
func objectsAt(n int) string { return boxDir + "/objects/" + strconv.Itoa(n) }

// judgeTree shows the tree of the checks at the worktree's path, with the objects that it borrows, which must not be
// written.
func (b *bwrap) judgeTree() (args []string) {
	args = append(args, "--bind", b.s.o.Judge, clone(b.s.o.Dir, b.s.o.Home))
	for i, dir := range b.s.o.Objects {
		args = append(args, "--ro-bind", dir, objectsAt(i))
		if alternates := filepath.Join(dir, "info", "alternates"); exists(alternates) { // each of them is here by itself
			args = append(args, "--ro-bind", b.s.nothing(), filepath.Join(objectsAt(i), "info", "alternates"))
		}
	}
	return args
}

// writableIn are the paths that may be written beside a tree. Those in the worktree are no part of the tree of the
// checks.
func (b *bwrap) writableIn(judge bool) (args []string) {
	for _, path := range b.s.o.Writable {
		if judge && over(clone(b.s.o.Dir, b.s.o.Home), path) {
			continue
		}
		if at, err := real(path); err != nil || at != path { // something inside leads it elsewhere by now
			continue
		}
		args = append(args, "--bind", path, path)
	}
	return args
}

// clone is the top of the clone that a directory is in, or the directory itself outside of one. A home is no clone.
func clone(dir, home string) string {
	for at := dir; at != "/" && at != "." && !over(at, home); at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) {
			return at
		}
	}
	return dir
}

// nothing is an empty file to put over others.
func (s *Sandbox) nothing() string { return filepath.Join(s.scratch, "nothing") }

// real is a path without links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// over reports whether a path is another or lies above it.
func over(path, other string) bool {
	if path == "" || other == "" {
		return false
	}
	rel, err := filepath.Rel(path, other)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
