package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// rooms are where a use's files lie on this machine. Uses share none of them: what an agent leaves in a home or in a
// cache of builds is not to decide how a check goes, nor what a reviewer is told.
type rooms struct{ home, cache, temp string }

func (s *Sandbox) rooms(u Use) rooms {
	name := map[Use]string{Checks: "checks", Works: "agent", Reads: "reader"}[u]
	r := rooms{home: filepath.Join(s.scratch, name, "home"), cache: filepath.Join(s.scratch, name, "cache"),
		temp: filepath.Join(s.scratch, name, "tmp")}
	if s.o.Cache != "" {
		r.cache = filepath.Join(s.o.Cache, name)
	}
	return r
}

// settle makes the home of a use, once. That of an agent begins as what the setup has left in that of the checks.
func (s *Sandbox) settle(u Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.homes[u] {
		return nil
	}
	if u != Checks {
		if err := s.inherit(u); err != nil {
			return fmt.Errorf("taking over what the setup has left: %w", err)
		}
	}
	if err := s.makeHome(u); err != nil {
		return fmt.Errorf("making a home for the sandbox: %w", err)
	}
	s.homes[u] = true
	return nil
}

// KeepHome remembers the home of the checks as it is now, which is as the setup has left it.
func (s *Sandbox) KeepHome() error {
	if s == nil || s.maker == nil || s.scratch == "" {
		return nil
	}
	if err := s.settle(Checks); err != nil {
		return err
	}
	home, kept := s.rooms(Checks).home, s.keptHome()
	remove(kept)
	if size := sizeOf(home); size > mostInherited {
		s.o.Log("sandbox: the setup has left %d MiB in its home, which is too much to keep a copy of: what checks leave "+
			"there stays", size>>20)
		return nil
	}
	if err := copyAll(home, kept); err != nil {
		return fmt.Errorf("keeping what the setup has left in its home: %w", err)
	}
	return nil
}

// FreshHome makes the home of the checks what KeepHome has kept: what checks have left there since decides nothing.
// Caches stay.
func (s *Sandbox) FreshHome() error {
	if s == nil || s.maker == nil || s.scratch == "" || !exists(s.keptHome()) {
		return nil
	}
	home := s.rooms(Checks).home
	remove(home)
	if err := copyAll(s.keptHome(), home); err != nil {
		return fmt.Errorf("making the home of the checks again: %w", err)
	}
	return s.give(home)
}

func (s *Sandbox) keptHome() string { return filepath.Join(s.scratch, "kept", "home") }

// mostInherited is how much an agent's home takes over.
const mostInherited = 512 << 20

func (s *Sandbox) inherit(u Use) error {
	from, to := s.rooms(Checks).home, s.rooms(u).home
	size := sizeOf(from)
	if size == 0 {
		return nil
	}
	if size > mostInherited {
		s.o.Log("sandbox: the setup has left %d MiB in its home, which is too much for the agent to take over", size>>20)
		return nil
	}
	return copyAll(from, to)
}

// copyAll copies a file, or a directory with all that is in it.
func copyAll(from, to string) error {
	if !exists(from) {
		return fs.ErrNotExist
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		return copyOne(path, filepath.Join(to, rel), d)
	})
}

// copyOne copies a directory, a file or a link; there is nothing else that is of use in another home.
func copyOne(from, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	switch {
	case d.IsDir():
		return os.MkdirAll(to, info.Mode().Perm()|0o700)
	case d.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !d.Type().IsRegular():
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm()|0o600)
}

// lent are the directories of the checks' cache that no tool writes anew, and that an agent may read: browsers, models,
// compilers that the setup has fetched. Each is named from the cache.
func (s *Sandbox) lent(u Use) (names []string) {
	if u == Checks {
		return nil
	}
	entries, _ := os.ReadDir(s.rooms(Checks).cache)
	for _, e := range entries {
		if !slices.Contains([]string{"go-build", "go", "cargo", "npm", "yarn", "pip", "uv", "gradle"}, e.Name()) &&
			e.IsDir() && !exists(filepath.Join(s.rooms(u).cache, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// makeHome makes a home: who commits, and what an agent takes a copy of.
func (s *Sandbox) makeHome(u Use) error {
	r := s.rooms(u)
	for _, dir := range []string{r.home, r.cache, r.temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if u != Reads { // who builds nothing
		s.seed(r.cache)
	}
	config := filepath.Join(r.home, ".gitconfig")
	if err := os.RemoveAll(config); err != nil { // a check may have put a link there, which leads anywhere
		return err
	}
	if err := os.WriteFile(config, s.gitConfig(), 0o644); err != nil {
		return err
	}
	if u != Checks {
		for _, f := range s.files() {
			if f.How != Copied {
				continue
			}
			err := copyAll(f.Path, filepath.Join(r.home, f.At))
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	if s.o.As == nil {
		return nil
	}
	err := os.Chmod(filepath.Dir(r.home), 0o711)
	for _, dir := range []string{r.home, r.cache, r.temp} {
		err = errors.Join(err, s.give(dir))
	}
	return err
}

// mostSeeded is how much of this machine's cache of Go builds a new cache begins with: copying is an order of magnitude
// faster than compiling the standard library.
const mostSeeded = 1 << 30

// seed fills a new cache with what this machine has compiled. Where that fails, the first build takes longer.
func (s *Sandbox) seed(cache string) {
	to := filepath.Join(cache, "go-build")
	from := proc.Value(s.o.Parent, "GOCACHE")
	if from == "" {
		from = filepath.Join(s.o.Home, ".cache", "go-build")
	}
	if exists(to) || !filepath.IsAbs(from) || !isDir(from) || sizeOf(from) > mostSeeded {
		return
	}
	if err := copyAll(from, to); err != nil {
		remove(to)
	}
}

// sizeOf is how many bytes the files in a directory have.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// give makes everything in a directory of ours the user's whom the boxes run as. No link is followed.
func (s *Sandbox) give(dir string) error {
	if s.o.As == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(s.o.As.UID), int(s.o.As.GID))
	})
}

// files are those that the agents use, absolute, and where they are looked for, from a home.
func (s *Sandbox) files() (files []File) {
	for _, a := range s.o.Agents {
		for _, f := range a.Files {
			if f.At == "" {
				f.At = f.Path
			}
			if !filepath.IsAbs(f.Path) {
				f.Path = filepath.Join(s.o.Home, f.Path)
			}
			if filepath.IsAbs(f.At) {
				if f.At, _ = filepath.Rel(s.o.Home, f.At); f.At == "" || strings.HasPrefix(f.At, "..") {
					continue // it is no file of a home, and seen as it is or not at all
				}
			}
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// kept is what a box takes over of the user's git configuration: who commits, and how lines end. All else may hold
// keys.
var kept = []string{"user.name", "user.email", "init.defaultbranch", "core.autocrlf", "core.eol"}

func (s *Sandbox) gitConfig() []byte {
	out := proc.NewTail(64<<10, 0)
	env := proc.Environment(s.o.Parent, proc.Allowed, "HOME="+s.o.Home)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := proc.Run(ctx, proc.Spec{Argv: []string{"git", "config", "--global", "--list", "-z"}, Dir: "/", Env: env,
		Stdout: out}); err != nil {
		return nil // there is no git, and nobody who misses its configuration
	}
	var b strings.Builder
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		section, key, _ := strings.Cut(name, ".")
		if slices.Contains(kept, name) {
			fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, key,
				strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(value))
		}
	}
	return []byte(b.String())
}

// moduleCache is where this machine keeps the Go modules that it has fetched; empty: nowhere.
func moduleCache(o Options) string {
	dir := proc.Value(o.Parent, "GOMODCACHE")
	if dir == "" {
		path, _, _ := strings.Cut(proc.Value(o.Parent, "GOPATH"), string(filepath.ListSeparator))
		if path == "" {
			path = filepath.Join(o.Home, "go")
		}
		dir = filepath.Join(path, "pkg", "mod")
	}
	if dir = filepath.Join(dir, "cache", "download"); filepath.IsAbs(dir) && isDir(dir) {
		return dir
	}
	return ""
}

// theirs are variables that say where on this machine a user keeps something: in a box they would lead to nothing.
var theirs = []string{
	"XDG_*", "GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "CARGO_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "GRADLE_USER_HOME",
	"DENO_DIR", "BUNDLE_PATH",
	"TMPDIR", "TMP", "TEMP", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
	"all_proxy", "no_proxy", "RALPH_SANDBOX",
}

// environ is the environment in a box with that home, cache and directory for temporary files. A process that has a
// directory of its own may have that in it.
func (s *Sandbox) environ(of proc.Spec, in rooms) []string {
	env := of.Env
	if temp := proc.Value(env, "TMPDIR"); of.Own != "" && over(of.Own, temp) {
		in.temp = temp
	}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(theirs, func(pattern string) bool {
			prefix, star := strings.CutSuffix(pattern, "*")
			return name == pattern || star && strings.HasPrefix(name, prefix)
		})
	})
	set := []string{
		"HOME=" + in.home, "TMPDIR=" + in.temp,
		"GOCACHE=" + in.cache + "/go-build", "GOPATH=" + in.cache + "/go", "CARGO_HOME=" + in.cache + "/cargo",
		"npm_config_cache=" + in.cache + "/npm",
		"YARN_CACHE_FOLDER=" + in.cache + "/yarn", "PIP_CACHE_DIR=" + in.cache + "/pip", "UV_CACHE_DIR=" + in.cache + "/uv",
		"GRADLE_USER_HOME=" + in.cache + "/gradle",
	}
	// what this machine has fetched already; go.sum is held against it all the same
	if from := moduleCache(s.o); from != "" {
		next := proc.Value(env, "GOPROXY")
		if next == "" {
			next = "https://proxy.golang.org,direct"
		}
		set = append(set, "GOPROXY=file://"+filepath.ToSlash(from)+","+next)
	}
	for _, entry := range set {
		name, _, _ := strings.Cut(entry, "=")
		out = slices.DeleteFunc(out, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		out = append(out, entry)
	}
	return out
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
