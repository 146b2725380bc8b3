package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/files"
)

// outside is what nothing that works below a directory may read, write or remove.
type outside struct {
	dir    string
	before map[string]string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{dir: t.TempDir()}
	for _, name := range []string{"precious", "sub/precious", ".gitconfig"} {
		write(t, filepath.Join(o.dir, name), "precious")
	}
	o.before = o.look(t)
	return o
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// look is what lies there: names, modes, owners, times and contents.
func (o *outside) look(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		stat := info.Sys().(*syscall.Stat_t)
		seen[path] = fmt.Sprint(info.Mode(), stat.Uid, stat.Gid, info.ModTime(), stat.Ino, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func (o *outside) unharmed(t *testing.T) {
	t.Helper()
	now := o.look(t)
	for name, was := range o.before {
		if now[name] != was {
			t.Errorf("outside, %s was %s and is %s", name, was, now[name])
		}
	}
	if len(now) != len(o.before) {
		t.Errorf("outside there are %d files, there were %d", len(now), len(o.before))
	}
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// traps are what somebody leaves in a directory who wants others to reach what is outside of it. Each gets the path at
// which it lies, and the directory outside.
var traps = map[string]func(t *testing.T, at, out string) error{
	"a link to a file":      func(_ *testing.T, at, out string) error { return os.Symlink(out+"/precious", at) },
	"a link to a directory": func(_ *testing.T, at, out string) error { return os.Symlink(out, at) },
	"a relative link": func(t *testing.T, at, out string) error {
		return os.Symlink(relative(t, at, out+"/precious"), at)
	},
	"a link to what is not": func(_ *testing.T, at, out string) error { return os.Symlink(out+"/new", at) },
	"a link to itself":      func(_ *testing.T, at, _ string) error { return os.Symlink(filepath.Base(at), at) },
	"a hard link":           func(_ *testing.T, at, out string) error { return os.Link(out+"/precious", at) },
	"a fifo":                func(_ *testing.T, at, _ string) error { return syscall.Mkfifo(at, 0o666) },
	"a directory":           func(_ *testing.T, at, _ string) error { return os.Mkdir(at, 0o755) },
	"a directory of links":  func(_ *testing.T, at, out string) error { return linksIn(at, out) },
	"a device": func(_ *testing.T, at, _ string) error {
		return syscall.Mknod(at, syscall.S_IFCHR|0o666, 1<<8|5)
	},
	"a closed directory": func(_ *testing.T, at, out string) error {
		return errors.Join(linksIn(at, out), os.Chmod(at, 0))
	},
	"directories without end": func(_ *testing.T, at, _ string) error { return deep(at) },
}

func relative(t *testing.T, at, to string) string {
	t.Helper()
	rel, err := filepath.Rel(filepath.Dir(at), to)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func linksIn(at, out string) error {
	return errors.Join(os.Mkdir(at, 0o755), os.Symlink(out, at+"/sub"), os.Symlink(out+"/precious", at+"/precious"))
}

// deep makes more directories in one another than a path can name.
func deep(at string) error {
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	name := filepath.Base(at)
	for range 1500 {
		if err := root.Mkdir(name, 0o755); err != nil {
			return err
		}
		next, err := root.OpenRoot(name)
		if err = errors.Join(err, root.Close()); err != nil {
			return err
		}
		root, name = next, "deep"
	}
	return root.Close()
}

// works are what ralph does in directories where others have been, each with the name of the trap.
var works = map[string]func(in *os.Root, dir, name string) error{
	"read":  func(in *os.Root, _, name string) error { _, err := files.ReadIn(in, name, 1<<20); return err },
	"write": func(in *os.Root, _, name string) error { return files.Write(in, name, []byte("ours"), 0o644) },
	"write below": func(in *os.Root, _, name string) error {
		return errors.Join(files.MkdirAll(in, name+"/sub", 0o700), files.Write(in, name+"/sub/file", []byte("ours"), 0o600))
	},
	"replace": func(_ *os.Root, dir, name string) error {
		return files.Replace(filepath.Join(dir, name), []byte("ours"))
	},
	"open below": func(_ *os.Root, dir, name string) error {
		root, err := files.OpenBelow(dir, filepath.Join(dir, name, "sub"))
		if err == nil {
			err = errors.Join(files.Write(root, "file", []byte("ours"), 0o600), root.Close())
		}
		return err
	},
	"remove":      func(in *os.Root, _, name string) error { return files.RemoveIn(in, name) },
	"remove all":  func(_ *os.Root, dir, _ string) error { return files.RemoveAll(dir) },
	"remove this": func(_ *os.Root, dir, name string) error { return files.RemoveAll(filepath.Join(dir, name)) },
	"walk and own": func(in *os.Root, _, _ string) error {
		return files.Walk(in, func(e files.Entry) error {
			if e.Info.IsDir() {
				return e.In.Chmod(e.Name, 0o711)
			}
			return e.In.Lchown(e.Name, os.Getuid(), os.Getgid())
		})
	},
	"copy out": func(in *os.Root, dir, _ string) error {
		to, err := os.MkdirTemp(filepath.Dir(dir), "copy-")
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(to)
		if err != nil {
			return err
		}
		defer root.Close()
		return files.CopyTree(in, root, files.Copying{Most: 1 << 20})
	},
	"copy in": func(in *os.Root, dir, name string) error {
		from, err := os.MkdirTemp(filepath.Dir(dir), "from-")
		if err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(from+"/"+name, []byte("ours"), 0o600), os.Mkdir(from+"/sub", 0o700),
			os.WriteFile(from+"/sub/"+name, []byte("ours"), 0o600)); err != nil {
			return err
		}
		root, err := os.OpenRoot(from)
		if err != nil {
			return err
		}
		defer root.Close()
		return files.CopyTree(root, in, files.Copying{Missing: true, Give: true, UID: os.Getuid(), GID: os.Getgid()})
	},
}

// TestNothingLeadsOut: whatever lies where ralph reads, writes, copies or removes, nothing outside is touched, and
// nothing is waited for. What cannot be done is an error. make test tries a tenth of the pairs.
func TestNothingLeadsOut(t *testing.T) {
	every := os.Getenv("RALPH_TEST_EVERY_FAULT") != ""
	for i, what := range slices.Sorted(maps.Keys(traps)) {
		trap := traps[what]
		for j, how := range slices.Sorted(maps.Keys(works)) {
			if !every && (i+j)%10 != 0 {
				continue
			}
			work := works[how]
			t.Run(what+"/"+how, func(t *testing.T) {
				out, base := newOutside(t), t.TempDir()
				dir := filepath.Join(base, "dir")
				write(t, dir+"/file", "text")
				if err := trap(t, dir+"/trap", out.dir); err != nil {
					if os.Geteuid() != 0 && errors.Is(err, syscall.EPERM) {
						return // nobody else could leave it either
					}
					t.Fatal(err)
				}
				if what == "a hard link" { // which is a name of that file like any other
					out.before = out.look(t)
				}
				_ = work(open(t, dir), dir, "trap") // it may refuse
				out.unharmed(t)
			})
		}
	}
}

// TestRacesLeadNowhere: somebody swaps directories and files for links, thousands of times, while ralph copies, writes
// and removes. Nothing outside is touched, and of what is outside nothing is copied.
func TestRacesLeadNowhere(t *testing.T) {
	const rounds, swaps = 200, 5000
	out, base := newOutside(t), t.TempDir()
	write(t, out.dir+"/sub/secret", "secret")
	out.before = out.look(t)
	dir := filepath.Join(base, "dir")
	write(t, dir+"/swapped/precious", "ours")
	write(t, dir+"/swapped/sub/precious", "ours")
	var ended atomic.Bool
	var swapped atomic.Int64
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; !ended.Load(); i++ {
			link := []string{out.dir, "../../" + filepath.Base(out.dir), "/proc/self/root" + out.dir}[i%3]
			_ = os.Rename(dir+"/swapped", dir+"/aside")
			_ = os.Symlink(link, dir+"/swapped")
			_ = os.Remove(dir + "/swapped")
			_ = os.Rename(dir+"/aside", dir+"/swapped")
			_ = os.Rename(dir+"/swapped/precious", dir+"/swapped/held")
			_ = os.Symlink(out.dir+"/precious", dir+"/swapped/precious")
			_ = os.Rename(dir+"/swapped/held", dir+"/swapped/precious")
			swapped.Add(1)
		}
	})
	in := open(t, dir)
	for i := 0; i < rounds || swapped.Load() < swaps; i++ {
		to := filepath.Join(base, fmt.Sprint("copy-", i))
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		root := open(t, to)
		if err := files.CopyTree(in, root, files.Copying{}); err != nil {
			t.Logf("round %d: %v", i, err)
		}
		holds(t, to)
		if err := files.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		_ = root.Close()
		if sub, err := files.OpenBelow(dir, dir+"/swapped/sub"); err == nil {
			_ = files.Write(sub, "written", []byte("ours"), 0o600)
			_ = sub.Close()
		}
		_ = files.Write(in, "swapped/written", []byte("ours"), 0o600)
		_ = files.RemoveIn(in, "swapped/sub/written")
		_ = files.Walk(in, func(e files.Entry) error { return e.In.Lchown(e.Name, os.Getuid(), os.Getgid()) })
	}
	ended.Store(true)
	swapping.Wait()
	out.unharmed(t)
}

// holds fails when a copy holds what was outside.
func holds(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "secret") || strings.Contains(string(text), "precious") {
			t.Errorf("%s is a copy of what is outside", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write(t, from+"/a/b/file", "text")
	write(t, from+"/a/script", "#!/bin/sh")
	write(t, to+"/a/script", "older")
	for _, err := range []error{os.Chmod(from+"/a/script", 0o755), os.Symlink("script", from+"/a/link"),
		os.Symlink("/nowhere", from+"/away"), syscall.Mkfifo(from+"/pipe", 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	in, out := open(t, from), open(t, to)
	for _, c := range []struct {
		name string
		c    files.Copying
		want error
	}{
		{"over what is there", files.Copying{}, fs.ErrExist},
		{"too much", files.Copying{Missing: true, Most: 1 << 10}, files.ErrTooMuch},
		{"what is missing", files.Copying{Missing: true}, nil},
	} {
		if err := files.CopyTree(in, out, c.c); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	link, _ := os.Readlink(to + "/a/link")
	file, _ := os.ReadFile(to + "/a/b/file")
	script, _ := os.ReadFile(to + "/a/script")
	if link != "script" || string(file) != "text" || string(script) != "older" {
		t.Errorf("link %q, file %q, script %q", link, file, script)
	}
	if _, err := os.Lstat(filepath.Join(to, "pipe")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pipe is there: %v", err)
	}
	was, _ := os.Stat(from + "/a/b/file")
	if now, err := os.Stat(to + "/a/b/file"); err != nil || !now.ModTime().Equal(was.ModTime()) {
		t.Errorf("its time is %v, was %v (%v)", now.ModTime(), was.ModTime(), err)
	}
	root := open(t, t.TempDir())
	if err := files.Copy(in, "a", root, "b", files.Copying{Rewrite: strings.ToUpper}); err != nil {
		t.Fatal(err)
	}
	if text, err := root.ReadFile("b/b/file"); string(text) != "TEXT" {
		t.Errorf("rewritten: %q %v", text, err)
	}
}

// TestOpenDir: a directory that is a link is none.
func TestOpenDir(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/real/file", "text")
	if err := os.Symlink("real", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"real": true, "link": false, "real/file": false, "none": false} {
		root, err := files.OpenDir(filepath.Join(dir, name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = root.Close()
		}
	}
	for _, name := range []string{"link/sub", "real/file/sub"} {
		if root, err := files.OpenBelow(dir, filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is opened", name)
			_ = root.Close()
		}
	}
	for _, name := range []string{"real/new/sub", "."} {
		root, err := files.OpenBelow(dir, filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = root.Close()
	}
}
