package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What runs in a sandbox can leave anything in the places that it may write: links that lead out of them, pipes that
// no one writes, directories that it swaps for links while someone looks. So what works on such places opens one
// directory after the other, each in the one before, and names nothing by a whole path. os.Root sees to that.

// OpenDir opens a directory; a link in its place is refused.
func OpenDir(dir string) (*os.Root, error) { return itself(dir, os.Lstat, os.OpenRoot) }

// openSub is OpenDir for what is in another directory.
func openSub(in *os.Root, name string) (*os.Root, error) { return itself(name, in.Lstat, in.OpenRoot) }

// itself opens a directory that is one before and behind, so that no link has led there meanwhile.
func itself(
	name string, look func(string) (fs.FileInfo, error), open func(string) (*os.Root, error),
) (*os.Root, error) {
	before, err := look(name)
	if err != nil {
		return nil, err
	}
	refused := &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	if !before.IsDir() {
		return nil, refused
	}
	root, err := open(name)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(before, now) {
		return nil, errors.Join(refused, root.Close())
	}
	return root, nil
}

// OpenBelow opens a directory that is in another one, and makes it where it is missing; a link on the way is refused.
// One that lies elsewhere is opened as it is.
func OpenBelow(top, dir string) (*os.Root, error) {
	rel, err := filepath.Rel(top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		return OpenDir(dir)
	}
	at, err := os.OpenRoot(top)
	if err != nil || rel == "." {
		return at, err
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if err := at.Mkdir(part, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(err, at.Close())
		}
		next, err := openSub(at, part)
		if err := errors.Join(err, at.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w; put a directory in its place", dir, err)
		}
		at = next
	}
	return at, nil
}

// Entry is something that Walk has found.
type Entry struct {
	In   *os.Root // the directory that it is in, which is open until visit returns
	Name string   // in that directory
	Path string   // from the directory that is walked, with slashes
	Info fs.FileInfo
}

// deepest is how many directories may lie in one another. Who makes more wants something else than to keep files.
const deepest = 200

// Walk visits everything below an open directory, a directory before what is in it, by name. No link is followed. A
// visit that returns fs.SkipDir keeps out of a directory; one that makes a directory readable is asked before it is
// opened. What goes while it walks is skipped, and so is what may not be read.
func Walk(root *os.Root, visit func(Entry) error) error { return walk(root, "", 0, visit) }

func walk(in *os.Root, at string, deep int, visit func(Entry) error) error {
	if deep > deepest {
		return fmt.Errorf("more than %d directories lie in one another", deepest)
	}
	names, err := namesIn(in)
	if err != nil {
		return unlessGone(err)
	}
	for _, name := range names {
		info, err := in.Lstat(name)
		if err != nil {
			continue
		}
		e := Entry{in, name, path.Join(at, name), info}
		switch err := visit(e); {
		case errors.Is(err, fs.SkipDir):
			continue
		case err != nil:
			return err
		case !info.IsDir():
			continue
		}
		if err := walkInto(e, deep, visit); err != nil {
			return err
		}
	}
	return nil
}

func walkInto(e Entry, deep int, visit func(Entry) error) error {
	sub, err := openSub(e.In, e.Name)
	if err != nil {
		return unlessGone(err)
	}
	defer sub.Close()
	return walk(sub, e.Path, deep+1, visit)
}

// unlessGone passes over what no longer exists, is something else, or is closed to us.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) {
		return nil
	}
	return err
}

// namesIn are the names in a directory, sorted.
func namesIn(in *os.Root) ([]string, error) {
	list, err := in.Open(".")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	names, err := list.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// SizeOf is how many bytes the files below a directory have.
func SizeOf(dir string) (size int64) {
	root, err := OpenDir(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	_ = Walk(root, func(e Entry) error {
		if e.Info.Mode().IsRegular() {
			size += e.Info.Size()
		}
		return nil
	})
	return size
}

// Copying is how a tree is copied.
type Copying struct {
	Most    int64 // how many bytes at most, and how many KiB files; 0: any number
	Missing bool  // what already exists stays
	UID     int   // whose the copies become; with GID
	GID     int   // of whose group
	Give    bool  // UID and GID count
	// Rewrite changes what small texts and absolute links say; nil: they stay as they are.
	Rewrite func(text string) string
}

// ErrTooMuch is that a tree holds more than may be copied.
var ErrTooMuch = errors.New("it is too much to copy")

// CopyTree copies what is in a directory to another: directories, plain files with their times, and links, which stay
// what they say. There is nothing else that is of use elsewhere. A file is never written over. Where the file system
// can share blocks, they are shared.
func CopyTree(from, to *os.Root, c Copying) error {
	return Walk(from, (&copying{Copying: c, to: to, left: c.Most}).one)
}

// Copy is CopyTree for one name: a file, a directory with all that is in it, or a link.
func Copy(from *os.Root, name string, to *os.Root, as string, c Copying) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	w, e := &copying{Copying: c, to: to, left: c.Most}, Entry{from, name, as, info}
	err = w.one(e)
	switch {
	case errors.Is(err, fs.SkipDir):
		return nil
	case err != nil || !info.IsDir():
		return err
	}
	return walkInto(e, 0, w.one)
}

// CopyAnew puts a copy of a plain file in its own place.
func CopyAnew(in *os.Root, name string, c Copying) error {
	via := beside(name)
	err := Copy(in, name, in, via, c)
	if err == nil {
		err = in.Rename(via, name)
	}
	if err != nil {
		return errors.Join(err, in.Remove(via))
	}
	return nil
}

// copying copies to a directory, each thing to its path there: no link leads out of it.
type copying struct {
	Copying
	to   *os.Root
	left int64
}

// take counts what will be copied.
func (c *copying) take(bytes int64) error {
	if c.Most == 0 {
		return nil
	}
	if c.left -= bytes; c.left < 0 {
		return ErrTooMuch
	}
	return nil
}

func (c *copying) one(e Entry) error {
	switch {
	case e.Info.IsDir():
		return c.dir(e)
	case e.Info.Mode()&fs.ModeSymlink != 0:
		return c.link(e)
	case e.Info.Mode().IsRegular():
		return c.file(e)
	}
	return nil
}

func (c *copying) dir(e Entry) error {
	if err := c.take(1 << 10); err != nil {
		return err
	}
	err := c.to.Mkdir(e.Path, e.Info.Mode().Perm()|0o700)
	if c.Missing && errors.Is(err, fs.ErrExist) {
		if is, err := c.to.Lstat(e.Path); err != nil || !is.IsDir() {
			return fs.SkipDir // something else is there
		}
		return nil
	}
	return c.given(e.Path, err)
}

func (c *copying) link(e Entry) error {
	if err := c.take(1 << 10); err != nil {
		return err
	}
	target, err := e.In.Readlink(e.Name)
	if err != nil {
		return unlessGone(err)
	}
	if c.Rewrite != nil && filepath.IsAbs(target) {
		target = c.Rewrite(target)
	}
	err = c.to.Symlink(target, e.Path)
	if c.Missing && errors.Is(err, fs.ErrExist) {
		return nil
	}
	return c.given(e.Path, err)
}

func (c *copying) file(e Entry) (err error) {
	in, info, err := Open(e.In, e.Name)
	if err != nil {
		return unlessGone(err)
	}
	defer in.Close()
	if err := c.take(info.Size() + 1<<10); err != nil {
		return err
	}
	out, err := c.to.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if c.Missing && errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(c.content(in, out, info.Size()), out.Close())
	if err = c.given(e.Path, err); err == nil {
		err = c.to.Chtimes(e.Path, info.ModTime(), info.ModTime())
	}
	return err
}

// mostRewritten is the size above which no file is searched.
const mostRewritten = 256 << 10

// content copies so many bytes: what grows meanwhile is not waited for.
func (c *copying) content(in io.Reader, out *os.File, size int64) error {
	in = io.LimitReader(in, size)
	if c.Rewrite == nil || size > mostRewritten {
		_, err := io.Copy(out, in) // by the system, which shares the blocks where the file system can
		return err
	}
	text, err := io.ReadAll(in)
	if err == nil && bytes.IndexByte(text, 0) < 0 {
		text = []byte(c.Rewrite(string(text)))
	}
	_, writing := out.Write(text)
	return errors.Join(err, writing)
}

// given gives what was made without an error to its user.
func (c *copying) given(name string, err error) error {
	if err != nil || !c.Give {
		return err
	}
	return c.to.Lchown(name, c.UID, c.GID)
}

// Write puts a new file in the place of whatever is there, in one step. A directory in its place goes with all that is
// in it. The mode is not narrowed by what the process masks.
func Write(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	return replace(root, name, content, mode)
}

// replace is Write where a directory is no file to be replaced.
func replace(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	via := beside(name)
	file, err := root.OpenFile(via, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Close()); err == nil {
		err = root.Rename(via, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(via))
	}
	return nil
}

// MkdirAll makes a directory and those that lead to it, of that mode. Whatever is in the place of one of them, as a
// link that leads elsewhere, goes.
func MkdirAll(root *os.Root, name string, mode fs.FileMode) error {
	at := ""
	for part := range strings.SplitSeq(path.Clean(filepath.ToSlash(name)), "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = root.Remove(at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.Mkdir(at, mode); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAll removes a directory of ours, also where a build has closed directories in it. No link is followed.
func RemoveAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	if root, err := OpenDir(filepath.Dir(dir)); err == nil {
		RemoveIn(root, filepath.Base(dir)) //nolint:errcheck // said below
		_ = root.Close()
	}
	return os.RemoveAll(dir)
}

// RemoveIn removes what a directory holds under a name, also where a build has closed directories in it.
func RemoveIn(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		_ = root.Chmod(name, 0o700)
		if sub, err := openSub(root, name); err == nil {
			_ = Walk(sub, func(e Entry) error {
				if e.Info.IsDir() {
					_ = e.In.Chmod(e.Name, 0o700)
				}
				return nil
			})
			_ = sub.Close()
		}
	}
	return root.RemoveAll(name)
}
