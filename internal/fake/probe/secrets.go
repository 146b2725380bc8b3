//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// veil hides a secret, so that no one who looks for it finds the probe instead, and brings it back.
func veil(text []byte) []byte {
	out := make([]byte, len(text))
	for i, b := range text {
		out[i] = b ^ 0x5a
	}
	return out
}

// keys are the secrets that open a door elsewhere, by their names; the rest are things of this machine.
var keys = []string{"model", "github"}

// seek says which of the secrets are in a text; it changes the text.
func (a *attempt) seek(text []byte, which ...string) string {
	for i := range text {
		text[i] ^= 0x5a
	}
	var found []string
	for name, secret := range a.Secrets {
		if slices.Contains(which, name) && bytes.Contains(text, secret) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return strings.Join(found, "+")
}

// most is how much of a file is read.
const most = 4 << 20

// look seeks in a file, without waiting for one that is a pipe.
func (a *attempt) look(path string, which ...string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, 0, 64<<10)
	for chunk := make([]byte, 64<<10); len(text) < most; {
		n, err := f.Read(chunk)
		text = append(text, chunk[:n]...)
		if n == 0 || err != nil {
			break
		}
	}
	if name := a.seek(text, which...); name != "" {
		return name + " in " + path
	}
	return ""
}

// among seeks in every file below some places.
func (a *attempt) among(which []string, places ...string) (seen string) {
	for _, place := range places {
		left := 20000
		_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if left--; left < 0 || seen != "" {
				return fs.SkipAll
			}
			if err == nil && d.Type().IsRegular() {
				seen = a.look(path, which...)
			}
			return nil
		})
		if seen != "" {
			return seen
		}
	}
	return ""
}

// processes are the directories of all processes that are seen, but this one and its parents among the probes.
func processes() (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		name, _ := os.ReadFile(dir + "/comm")
		if n := strings.TrimSpace(string(name)); n != "probe" && n != "claude" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// ofRun reports whether a process is one of this test's: its arguments or its program lie below the base.
func (a *attempt) ofRun(dir string) bool {
	line, _ := os.ReadFile(dir + "/cmdline")
	return bytes.Contains(line, []byte(a.Base))
}

// ralph are the processes of the ralph that has started us.
func (a *attempt) ralph() (dirs []string) {
	for _, dir := range processes() {
		line, _ := os.ReadFile(dir + "/cmdline")
		if bytes.HasPrefix(line, []byte(a.Base+"/bin/ralph\x00")) && !bytes.Contains(line, []byte("\x00__box\x00")) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// others are the processes that are not of this box: ralph, and one of the same user.
func (a *attempt) others() []string {
	return append(a.ralph(), fmt.Sprintf("/proc/%d", a.Victim))
}

func (a *attempt) inAll(name string, which ...string) string {
	for _, dir := range processes() {
		if seen := a.look(filepath.Join(dir, name), which...); seen != "" {
			return seen
		}
	}
	return ""
}

func (a *attempt) openFiles() string {
	for _, dir := range processes() {
		if !a.ofRun(dir) {
			continue
		}
		fds, _ := os.ReadDir(dir + "/fd")
		for _, fd := range fds {
			path := filepath.Join(dir, "fd", fd.Name())
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if seen := a.look(path, keys...); seen != "" {
				return seen
			}
		}
	}
	return ""
}

// secretProbes look for keys where a process can look without tracing anyone.
var secretProbes = []probe{
	{ownKey, "own environment", forbidden, func(a *attempt) string {
		return a.seek([]byte(strings.Join(os.Environ(), "\n")), keys...)
	}},
	{ownKey, "own environment, as it began", forbidden, func(a *attempt) string {
		return a.look("/proc/self/environ", keys...)
	}},
	{ownKey, "own arguments", forbidden, func(a *attempt) string { return a.look("/proc/self/cmdline", keys...) }},
	{ownKey, "own open files", forbidden, func(a *attempt) string {
		for fd := 3; fd < 64; fd++ {
			if info, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && info.Mode().IsRegular() {
				if seen := a.look(fmt.Sprintf("/proc/self/fd/%d", fd), keys...); seen != "" {
					return seen
				}
			}
		}
		return ""
	}},
	{ownKey, "a token of the runner in its environment", forbidden, func(a *attempt) string {
		for _, entry := range os.Environ() {
			for _, name := range []string{"ACTIONS_", "GITHUB_", "RUNNER_", "INPUT_", "GH_TOKEN", "SSH_AUTH_SOCK"} {
				if strings.HasPrefix(entry, name) {
					return name
				}
			}
		}
		return ""
	}},
	{othersKey, "environment of every process", forbidden, func(a *attempt) string {
		return a.inAll("environ", keys...)
	}},
	{othersKey, "environment of every thread", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			tasks, _ := filepath.Glob(dir + "/task/*/environ")
			for _, path := range tasks {
				if seen := a.look(path, keys...); seen != "" {
					return seen
				}
			}
		}
		return ""
	}},
	{othersKey, "arguments of every process", forbidden, func(a *attempt) string {
		return a.inAll("cmdline", keys...)
	}},
	{othersKey, "open files of every process", forbidden, (*attempt).openFiles},
	{filesKey, "ralph's directory for temporary files", forbidden, func(a *attempt) string {
		return a.among(keys, a.Temp)
	}},
	{filesKey, "directories for temporary files", forbidden, func(a *attempt) string {
		return a.among(keys, os.TempDir(), "/var/tmp", "/dev/shm", "/run/user", "/run/ralph")
	}},
	{filesKey, "the worktree and its repository", forbidden, func(a *attempt) string {
		dir, _ := os.Getwd()
		return a.among(keys, dir, a.Tree)
	}},
	{filesKey, "its own home and caches", forbidden, func(a *attempt) string {
		if os.Getenv("HOME") == a.Home {
			return "" // which is the user's, and another probe's
		}
		return a.among(keys, os.Getenv("HOME"), os.Getenv("GOCACHE"))
	}},
	{filesKey, "journals and logs of the run", inClone, func(a *attempt) string {
		return a.among(keys, filepath.Join(a.Tree, ".ralph"))
	}},
	{filesKey, "ralph's state and caches in the user's home", forbidden, func(a *attempt) string {
		return a.among(keys, filepath.Join(a.Home, ".local/state/ralph"), filepath.Join(a.Home, ".cache/ralph"))
	}},
	{homeKeys, "a key for ssh", forbidden, func(a *attempt) string {
		return a.look(a.Home+"/.ssh/id_ed25519", "ssh")
	}},
	{homeKeys, "the login of the agent", forbidden, func(a *attempt) string {
		return a.among([]string{"login"}, a.Home+"/.claude/.credentials.json", a.Home+"/.claude.json",
			filepath.Join(os.Getenv("HOME"), ".claude"), filepath.Join(os.Getenv("HOME"), ".claude.json"))
	}},
	{homeKeys, "logins of other programs", forbidden, func(a *attempt) string {
		return a.among([]string{"logins"}, a.Home+"/.netrc", a.Home+"/.git-credentials", a.Home+"/.docker",
			a.Home+"/.aws", a.Home+"/.config/gh", a.Home+"/.npmrc")
	}},
	{homeKeys, "the history of a shell", forbidden, func(a *attempt) string {
		return a.look(a.Home+"/.bash_history", "history")
	}},
	{homeKeys, "by a name of the home in /proc", forbidden, func(a *attempt) string {
		for _, dir := range a.others() {
			if seen := a.look(dir+"/root"+a.Home+"/.ssh/id_ed25519", "ssh"); seen != "" {
				return seen
			}
			if seen := a.look(dir+"/cwd/../home/.ssh/id_ed25519", "ssh"); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{homeKeys, "by a link that it makes", forbidden, func(a *attempt) string {
		link := filepath.Join(os.TempDir(), "probe-link")
		defer os.Remove(link)
		_ = os.Symlink(a.Home, link)
		return a.look(link+"/.ssh/id_ed25519", "ssh")
	}},
	{homeKeys, "by a hard link that it makes", forbidden, func(a *attempt) string {
		link := filepath.Join(os.Getenv("HOME"), "probe-hard")
		defer os.Remove(link)
		if os.Link(a.Home+"/.ssh/id_ed25519", link) != nil {
			return ""
		}
		return a.look(link, "ssh")
	}},
	{homeKeys, "of other users", forbidden, func(a *attempt) string {
		homes, _ := filepath.Glob("/home/*")
		for _, home := range append(homes, "/root") {
			for _, name := range []string{".ssh", ".netrc", ".bashrc", ".profile", ".bash_history", ".gnupg"} {
				if home != a.Home && opens(os.O_RDONLY, filepath.Join(home, name)) != "" {
					return name + " in " + home
				}
			}
		}
		return ""
	}},
}
