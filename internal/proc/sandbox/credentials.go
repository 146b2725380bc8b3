package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

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

// gitConfigs lists the configuration files of a worktree's repository.
func gitConfigs(top string) (files []string) {
	git := filepath.Join(top, ".git")
	if _, common := linked(git); common != "" {
		git = common
	}
	for _, name := range []string{"config", "config.worktree"} {
		if path := filepath.Join(git, name); exists(path) && !isLink(path) {
			files = append(files, path)
		}
	}
	return files
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

// refuseCredentials fails in a job in which agents could read them, unless somebody has accepted that.
func (s *Sandbox) refuseCredentials() error {
	if s.Mode == Bwrap || s.o.AcceptCredentials || proc.Value(s.o.Parent, "GITHUB_ACTIONS") != "true" {
		return nil
	}
	if found := s.credentials(); len(found) > 0 {
		return &UnavailableError{fmt.Sprintf("the sandbox %s cannot hide the git credentials in this clone's configuration (%s): "+
			"set persist-credentials: false in actions/checkout, or accept it with --accept clone-credentials", s.Mode,
			strings.Join(found, ", "))}
	}
	return nil
}
