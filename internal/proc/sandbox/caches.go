package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Who writes into a cache decides what a check says. So when checks decide, a cache holds nothing but the user's own,
// what the setup and the checks have made on the base commit, and what a setup has made from the commit itself. The
// first two are read only: a box lays a directory of its own over them. Where it cannot mount, a cache begins empty on
// a new base commit, and from then on as a copy of what was made there.

// toolCache is a cache of the user's that a tool of the repository finds in its own.
type toolCache struct {
	marks string // names of files that show that the tool is used
	name  string // in a directory of caches
	env   string // says where the user has it
	own   string // where else it is, from the home
	sub   string // the shared part: beside caches there are programs, configuration and passwords
}

const (
	ofGo     = "go.mod go.work"
	ofNode   = "package.json"
	ofPython = "pyproject.toml requirements.txt setup.py setup.cfg Pipfile uv.lock tox.ini"
	ofRust   = "Cargo.toml"
	ofGradle = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts"
)

var toolCaches = []toolCache{
	{ofGo, "go-build", "GOCACHE", ".cache/go-build", ""},
	{ofNode, "npm", "npm_config_cache", ".npm", "_cacache"},
	{ofNode, "yarn", "YARN_CACHE_FOLDER", ".cache/yarn", ""},
	{ofPython, "pip", "PIP_CACHE_DIR", ".cache/pip", ""},
	{ofPython, "uv", "UV_CACHE_DIR", ".cache/uv", ""},
	{ofRust, "cargo", "CARGO_HOME", ".cargo", "registry"},
	{ofRust, "cargo", "CARGO_HOME", ".cargo", "git"},
	{ofGradle, "gradle", "GRADLE_USER_HOME", ".gradle", "caches"},
	{ofGradle, "gradle", "GRADLE_USER_HOME", ".gradle", "wrapper"},
	{"pom.xml", "../.m2", "", ".m2", "repository"},
}

// ownCaches are the user's that tools of the repository use.
func (s *Sandbox) ownCaches() (list []layer) {
	names := namesBelow(clone(s.o.Dir, s.o.Home), 3)
	as := proc.User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	if s.o.As != nil {
		as = *s.o.As
	}
	for _, c := range toolCaches {
		from := filepath.Join(cmp.Or(proc.Value(s.o.Parent, c.env), filepath.Join(s.o.Home, c.own)), c.sub)
		at, err := real(from)
		if err != nil || !filepath.IsAbs(from) || !isDir(at) || over(at, s.o.Home) || !s.view.reach(at) ||
			as.UID != 0 && !belongs(at, as) ||
			!slices.ContainsFunc(strings.Fields(c.marks), func(mark string) bool { return names[mark] }) {
			continue
		}
		list = append(list, layer{filepath.Join(c.name, c.sub), []string{at}})
	}
	return list
}

// namesBelow are the names of the files in a directory and in those in it, so many levels deep.
func namesBelow(dir string, levels int) map[string]bool {
	names := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries[:min(len(entries), 1000)] {
		switch {
		case !e.IsDir():
			names[e.Name()] = true
		case levels > 1 && e.Name()[0] != '.' && e.Name() != "node_modules":
			for name := range namesBelow(filepath.Join(dir, e.Name()), levels-1) {
				names[name] = true
			}
		}
	}
	return names
}

// KeepCaches keeps what the setup and the checks make in caches on the base commit in a directory, for later runs from
// that commit. What was kept there of other commits is removed. No one else may use the directory meanwhile.
func (s *Sandbox) KeepCaches(all, base string) error {
	if !s.ownHomes() || all == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		if e.Name() != base {
			if err := files.RemoveAll(filepath.Join(all, e.Name())); err != nil {
				return fmt.Errorf("removing caches of another commit: %w", err)
			}
		}
	}
	s.base = filepath.Join(all, filepath.Base(base))
	return s.makeCaches(Setup)
}

// SealCaches says that the setup and the checks have run on the base commit: no box writes any more what they have made
// in caches.
func (s *Sandbox) SealCaches() error {
	if !s.ownHomes() || s.sealedCaches {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealedCaches = true
	return errors.Join(s.unshare(s.base), s.makeCaches(Checks), s.makeCaches(Works))
}

// freshCaches makes the caches of the checks what they were on the base commit.
func (s *Sandbox) freshCaches() error {
	dir := s.cacheDir(Checks)
	if dir == s.base { // nothing else has run
		return nil
	}
	return errors.Join(files.RemoveAll(filepath.Join(dir, "cache")), files.RemoveAll(filepath.Join(dir, "layers")),
		s.makeCaches(Checks))
}

// makeCaches makes the directories for the caches of a use where they do not exist.
func (s *Sandbox) makeCaches(u Use) error {
	dir := s.cacheDir(u)
	err := s.makeOwn(dir, "cache", "layers")
	if err == nil && s.o.As != nil { // who passes through, and does not look around
		err = os.Chmod(filepath.Dir(dir), 0o711)
	}
	if err != nil {
		return fmt.Errorf("making a place for caches: %w", err)
	}
	if s.layered || dir == s.base || u == Reads {
		return nil
	}
	c := s.copying(mostInherited)
	c.Missing = true
	err = s.copyTree(filepath.Join(s.base, "cache"), filepath.Join(dir, "cache"), c)
	if errors.Is(err, files.ErrTooMuch) {
		s.o.Log("caches: the setup and the checks have made more than %d MiB on the base commit, which is too much to copy: "+
			"the rest is made again", mostInherited>>20)
		return nil
	}
	return err
}

// layers are those of a use: over what was made on the base commit, and over the user's own.
func (s *Sandbox) layers(u Use) (list []layer) {
	switch base := s.cacheDir(u) == s.base; {
	case !s.layered:
		return nil
	case !s.homes.tried: // whether a box may mount is what is tried
		return []layer{{"try", []string{s.dirs(u).temp}}}
	case base:
		return s.own
	}
	entries, _ := os.ReadDir(filepath.Join(s.base, "cache"))
	for _, e := range entries {
		if e.IsDir() && !slices.ContainsFunc(s.own, func(l layer) bool { return l.at == e.Name() }) {
			list = append(list, layer{e.Name(), []string{filepath.Join(s.base, "cache", e.Name())}})
		}
	}
	for _, own := range s.own {
		if made := filepath.Join(s.base, "layers", own.store()); isDir(made) {
			own.lower = append([]string{made}, own.lower...)
		}
		list = append(list, own)
	}
	return list
}
