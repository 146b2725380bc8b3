package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// linked are the repository of a worktree, and that of the clone it belongs to; empty when they cannot be found. The
// repository must know of the worktree: anyone can write a file that points to someone's home.
func linked(file string) (dir, common string) {
	text, err := files.Read(file)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return "", ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	back, err := files.Read(filepath.Join(dir, "gitdir"))
	if at, err2 := real(strings.TrimSpace(string(back))); err != nil || err2 != nil || at != file {
		return "", ""
	}
	if text, err = files.Read(filepath.Join(dir, "commondir")); err != nil {
		return "", ""
	}
	if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	// git puts it nowhere else
	if filepath.Join(filepath.Clean(common), "worktrees", filepath.Base(dir)) != filepath.Clean(dir) {
		return "", ""
	}
	return dir, filepath.Clean(common)
}

// borrowed are the directories of objects that a repository borrows from.
func borrowed(top string) (dirs []string) {
	git := filepath.Join(top, ".git")
	if dir, common := linked(git); dir != "" {
		git = common
		dirs = append(dirs, common)
	}
	next := []string{filepath.Join(git, "objects")}
	for len(next) > 0 && len(dirs) < 10 {
		text, err := files.Read(filepath.Join(next[0], "info", "alternates"))
		next = next[1:]
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); filepath.IsAbs(line) && filepath.Base(line) == "objects" && isDir(line) &&
				!slices.Contains(dirs, line) {
				dirs = append(dirs, line)
				next = append(next, line)
			}
		}
	}
	return dirs
}

// unlinked are the paths of those names in a directory that exist and are not links.
func unlinked(dir string, names ...string) (paths []string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// gitConfigs lists the configuration files of a worktree's repository.
func gitConfigs(top string) []string {
	git := filepath.Join(top, ".git")
	if _, common := linked(git); common != "" {
		git = common
	}
	return unlinked(git, "config", "config.worktree")
}

// masked returns the file to mount at path: for a git configuration with credentials a copy without them, otherwise path.
func (s *Sandbox) masked(path string) string {
	if name := filepath.Base(path); name != "config" && name != "config.worktree" {
		return path
	}
	config, err := files.Read(path)
	text, keys := withoutCredentials(string(config))
	if err == nil && len(keys) == 0 {
		return path
	}
	at := filepath.Join(s.scratch, fmt.Sprintf("git-config-%d", s.counter.Add(1)))
	if err != nil || os.WriteFile(at, []byte(text), 0o644) != nil {
		return os.DevNull
	}
	return at
}

// credentials names those in the configuration of the worktree's repository.
func (s *Sandbox) credentials() (found []string) {
	for _, path := range gitConfigs(clone(s.o.Dir, s.o.Home)) {
		config, _ := files.Read(path)
		_, keys := withoutCredentials(string(config))
		found = append(found, keys...)
	}
	return found
}

// sayCredentials logs the credentials in the repository's configuration, by name, and whether the sandbox hides them.
func (s *Sandbox) sayCredentials() {
	found := strings.Join(s.credentials(), ", ")
	switch {
	case found == "":
	case s.Mode == Bwrap:
		s.o.Log("sandbox: the git credentials in this clone's configuration are hidden: %s", found)
	default:
		s.o.Log("warning: agents and checks can read the git credentials in this clone's configuration: %s; use a credential "+
			"helper, or persist-credentials: false of actions/checkout", found)
	}
}

// refuseCredentials fails in a job in which agents could read them, unless someone has accepted that.
func (s *Sandbox) refuseCredentials() error {
	if s.Mode == Bwrap || s.o.Credentials || proc.Value(s.o.Parent, "GITHUB_ACTIONS") != "true" {
		return nil
	}
	if found := s.credentials(); len(found) > 0 {
		return &UnavailableError{fmt.Sprintf("the sandbox %s cannot hide the git credentials in this clone's configuration (%s): "+
			"set persist-credentials: false in actions/checkout, or accept it with --accept clone-credentials", s.Mode,
			strings.Join(found, ", "))}
	}
	return nil
}

// withoutCredentials returns a git configuration without headers, tokens, helpers and the users in HTTP URLs. keys names
// what it removed, for example "http.https://github.com/.extraheader".
func withoutCredentials(config string) (text string, keys []string) {
	gitSection := regexp.MustCompile(`^\s*\[([^\]"\s]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]`)
	gitKey := regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9-]*)`)
	secretKey := regexp.MustCompile(`extraheader|token|password|secret`)
	userInfo := regexp.MustCompile(`(?i)(https?://)[^/@\s"]+@`)
	var out strings.Builder
	section := ""
	lines := strings.SplitAfter(config, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) && i+1 < len(lines) {
			i++
			line += lines[i]
		}
		head := ""
		if m := gitSection.FindStringSubmatch(line); m != nil {
			head, line = m[0], line[len(m[0]):]
			section = strings.ToLower(m[1])
			if m[2] != "" {
				section += "." + m[2]
			}
			if userInfo.MatchString(section) {
				keys = append(keys, userInfo.ReplaceAllString(section, "$1"))
			}
		}
		if m := gitKey.FindStringSubmatch(line); m != nil {
			key := strings.ToLower(m[1])
			shown := userInfo.ReplaceAllString(section, "$1") + "." + key
			switch {
			case secretKey.MatchString(key), key == "helper" && strings.HasPrefix(section, "credential"):
				line, keys = "\n", append(keys, shown)
			case userInfo.MatchString(line):
				keys = append(keys, shown)
			}
		}
		out.WriteString(userInfo.ReplaceAllString(head+line, "$1"))
	}
	return out.String(), keys
}
