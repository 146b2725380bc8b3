package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// toolHomes are directories in a cache in which a tool has more than its cache: programs and configuration, which go
// with a home. Each has the names of what is a cache in it.
var toolHomes = map[string][]string{
	"go": {"pkg"}, "cargo": {"registry", "git"}, "gradle": {"caches", "wrapper", "jdks"},
}

// written are the caches that tools write all the time. What else is in a cache is put there once: browsers, models,
// compilers.
var written = []string{"go-build", "go", "cargo", "npm", "yarn", "pip", "uv", "gradle"}

// isCache reports whether a path in a directory of caches is one of a cache.
func isCache(name string) bool {
	top, rest, deep := strings.Cut(name, "/")
	inner, ok := toolHomes[top]
	if !ok || !deep {
		return !ok
	}
	first, _, _ := strings.Cut(rest, "/")
	return slices.Contains(inner, first)
}

// onlyCaches removes from a directory of caches what is none: in a home that begins anew nothing of an old one counts.
func onlyCaches(dir string) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for tool := range toolHomes {
		info, err := root.Lstat(tool)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			if err := root.Remove(tool); err != nil {
				return err
			}
			continue
		}
		if err := onlyCachesOf(root, tool); err != nil {
			return err
		}
	}
	return nil
}

func onlyCachesOf(root *os.Root, tool string) error {
	sub, err := root.OpenRoot(tool)
	if err != nil {
		return err
	}
	defer sub.Close()
	return files.Walk(sub, func(e files.Entry) error {
		if !isCache(tool+"/"+e.Name) || !e.Info.IsDir() {
			if err := files.RemoveIn(e.In, e.Name); err != nil {
				return err
			}
		}
		return fs.SkipDir
	})
}

// mostSeeded is how much of this machine's cache of Go builds a new cache begins with, and how much of a cache of the
// setup's the checks get a copy of: copying is an order of magnitude faster than compiling the standard library.
const mostSeeded = 1 << 30

// seed fills a new cache with what this machine has compiled. Where that fails, the first build takes longer.
func (s *Sandbox) seed(cache string) {
	to := filepath.Join(cache, "go-build")
	from := proc.Value(s.o.Parent, "GOCACHE")
	if from == "" {
		from = filepath.Join(s.o.Home, ".cache", "go-build")
	}
	if exists(to) || !filepath.IsAbs(from) || !isDir(from) {
		return
	}
	from, err := real(from) // it may lie on a larger disk
	if err != nil {
		return
	}
	// Twice as much is no mistake: somebody may build meanwhile.
	if s.copyTree(from, to, s.copying(2*mostSeeded, older(from, mostSeeded))) != nil {
		_ = files.RemoveAll(to)
		return
	}
	if s.o.As != nil {
		_ = os.Lchown(to, int(s.o.As.UID), int(s.o.As.GID))
	}
}

// older says which files of a directory to leave out so that the newest remain, at most so many bytes. Go gives a file
// of its cache a new time when it uses it, and does without any file that is missing.
func older(dir string, most int64) func(at string) bool {
	type file struct {
		at   string
		size int64
		used time.Time
	}
	var all []file
	root, err := files.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	_ = files.Walk(root, func(e files.Entry) error {
		if e.Info.Mode().IsRegular() {
			all = append(all, file{e.Path, e.Info.Size(), e.Info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b file) int { return b.used.Compare(a.used) })
	out := map[string]bool{}
	for _, f := range all {
		if most -= f.size; most < 0 {
			out[f.at] = true
		}
	}
	return func(at string) bool { return out[at] }
}

// handOn gives the checks what the setup has in its caches, and they have not, as copies; a cache that a job will not
// ask for again, itself. A setup on a later commit writes these. What is too much to copy is lent.
func (s *Sandbox) handOn() error {
	from, to := s.dirs(Setup).cache, s.dirs(Checks).cache
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	dst, err := files.OpenDir(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.handOnOne(from, e, to, dst); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sandbox) handOnOne(from string, e fs.DirEntry, to string, dst *os.Root) error {
	name, src := e.Name(), filepath.Join(from, e.Name())
	if !e.IsDir() {
		return nil
	}
	_, err := dst.Lstat(name)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh && s.o.Cache == "" && slices.Contains(written, name) && len(toolHomes[name]) == 0 {
		return os.Rename(src, filepath.Join(to, name))
	}
	if sizeOf(src) > mostSeeded {
		return nil
	}
	c := s.copying(mostSeeded*2, func(at string) bool { return !isCache(name + "/" + at) })
	c.Missing = true
	if err := s.copyMissing(src, dst, name, c); err != nil && !errors.Is(err, files.ErrTooMuch) {
		return err
	}
	return nil
}

func (s *Sandbox) copyMissing(from string, to *os.Root, name string, c files.Copying) error {
	if err := to.Mkdir(name, 0o700); err == nil {
		err = give(to, name, s.o.As)
		if err != nil {
			return err
		}
	} else if info, lerr := to.Lstat(name); lerr != nil || !info.IsDir() {
		return lerr // something else is there
	}
	src, err := files.OpenDir(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := to.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dst.Close()
	return files.CopyTree(src, dst, c)
}

// lent are the directories of the setup's cache that no tool writes anew, and that everybody else may read: browsers,
// models, compilers that the setup has fetched. Each is named from the cache.
func (s *Sandbox) lent(u Use) (names []string) {
	if u == Setup {
		return nil
	}
	from, to := s.dirs(Setup).cache, s.dirs(u).cache
	entries, _ := os.ReadDir(from)
	for _, e := range entries {
		at := filepath.Join(to, e.Name())
		if !e.IsDir() || slices.Contains(written, e.Name()) {
			continue
		}
		target, err := os.Readlink(at)
		if err == nil && target == filepath.Join(from, e.Name()) || !exists(at) || isEmpty(at) {
			names = append(names, e.Name())
		}
	}
	return names
}

// isEmpty reports whether a path is a directory with nothing in it: what something was shown at before.
func isEmpty(path string) bool {
	root, err := files.OpenDir(path)
	if err != nil {
		return false
	}
	defer root.Close()
	list, err := root.Open(".")
	if err != nil {
		return false
	}
	defer list.Close()
	names, err := list.Readdirnames(1)
	return len(names) == 0 && errors.Is(err, io.EOF)
}
