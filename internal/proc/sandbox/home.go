package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// giveAgentFiles gives an agent copies of what it writes all the time, of the user's own.
func (s *Sandbox) giveAgentFiles(u Use) error {
	root, err := files.OpenDir(s.dirs(u).home)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range s.files() {
		if f.Access != Copied {
			continue
		}
		if err := s.copyOwn(root, f); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// copyOwn copies a file or a directory of the user's own to its place in a home, through nothing that a setup has left
// there.
func (s *Sandbox) copyOwn(home *os.Root, f File) error {
	from, err := real(f.Path)
	if err != nil {
		return err
	}
	src, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer src.Close()
	if err := s.mkdirIn(home, filepath.Dir(f.At)); err != nil {
		return err
	}
	dst, err := home.OpenRoot(filepath.Dir(f.At))
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := files.RemoveIn(dst, filepath.Base(f.At)); err != nil {
		return err
	}
	return files.Copy(src, filepath.Base(from), dst, filepath.Base(f.At), s.copying(0))
}

// files are those that the agents use, absolute, and where they are searched for, from a home.
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
	if s.homes.git == nil {
		s.homes.git = s.readGitConfig()
	}
	return s.homes.git
}

func (s *Sandbox) readGitConfig() []byte {
	out := proc.NewTail(64<<10, 0)
	env := proc.Environment(s.o.Parent, proc.Allowed, "HOME="+s.o.Home)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := proc.Run(ctx, proc.Spec{Argv: []string{"git", "config", "--global", "--list", "-z"}, Dir: "/", Env: env,
		Stdout: out}); err != nil {
		return nil // there is no git, and no one who misses its configuration
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
func (s *Sandbox) environ(of proc.Spec, in dirs) []string {
	env := of.Env
	if temp := proc.Value(env, "TMPDIR"); of.WritableDir != "" && over(of.WritableDir, temp) {
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
	// what this machine has fetched already; go.sum is held against it anyway
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
