//go:build linux

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// veil hides a secret, so that a probe that looks for it does not find the probe itself, and brings it back.
func veil(text []byte) []byte {
	out := make([]byte, len(text))
	for i, b := range text {
		out[i] = b ^ 0x5a
	}
	return out
}

// keys are the secrets that are worth something elsewhere, by their names; the rest are things of this machine.
const keys = "model,github"

// seek returns the names of the secrets that are in a text; it changes the text.
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

// mostRead is how much of a file is read.
const mostRead = 4 << 20

// look seeks in a file, without waiting for a pipe.
func (a *attempt) look(path string, which ...string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, 0, 64<<10)
	for chunk := make([]byte, 64<<10); len(text) < mostRead; {
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

// below seeks in a file, or in every file below a directory.
func (a *attempt) below(place string, which ...string) (seen string) {
	info, err := os.Stat(place)
	if err == nil && info.Mode().IsRegular() {
		return a.look(place, which...)
	}
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
	return seen
}

// secretProbes look for keys where a process can look without tracing another one.
var secretProbes = []probe{
	{ownKey, "own environment", everyone, func(a *attempt) string {
		return a.seek([]byte(strings.Join(os.Environ(), "\n")), strings.Split(keys, ",")...)
	}},
	{ownKey, "own environment, as it began", everyone, finds(keys, "/proc/self/environ")},
	{ownKey, "own arguments", everyone, finds(keys, "/proc/self/cmdline")},
	{ownKey, "own open files", everyone, finds(keys, "/proc/self/fd/*")},
	{ownKey, "a token of the runner in its environment", everyone, func(a *attempt) string {
		for _, entry := range os.Environ() {
			for _, name := range []string{"ACTIONS_", "GITHUB_", "RUNNER_", "INPUT_", "GH_TOKEN", "SSH_AUTH_SOCK"} {
				if strings.HasPrefix(entry, name) {
					return name
				}
			}
		}
		return ""
	}},
	{othersKey, "environment of every process", everyone, finds(keys, "$all/environ")},
	{othersKey, "environment of every thread", everyone, finds(keys, "$ralph/task/*/environ")},
	{othersKey, "arguments of every process", everyone, finds(keys, "$all/cmdline")},
	{othersKey, "open files of every process", everyone, finds(keys, "$run/fd/*")},
	{filesKey, "ralph's directory for temporary files", everyone, finds(keys, "$temp")},
	{filesKey, "directories for temporary files", everyone,
		finds(keys, "$tmp", "/var/tmp", "/dev/shm", "/run/user", "/run/ralph")},
	{filesKey, "the worktree and its repository", everyone, finds(keys, "$here", "$tree")},
	{filesKey, "its own home and caches", everyone, func(a *attempt) string {
		if os.Getenv("HOME") == a.Home {
			return "" // which is the user's, and another probe's
		}
		return finds(keys, "$own", "$cache")(a)
	}},
	{filesKey, "ralph's state and caches in the user's home", everyone,
		finds(keys, "$home/.local/state/ralph", "$home/.cache/ralph")},
	{filesKey, "the core of a child of its own", everyone, (*attempt).core},
	{kernelKey, "keyrings", everyone, (*attempt).keyrings},
	{kernelKey, "a segment of shared memory", everyone, (*attempt).sharedMemory},
	{homeKeys, "a key for ssh", everyone, finds("ssh", "$home/.ssh/id_ed25519")},
	{homeKeys, "the login of the agent", everyone,
		finds("login", "$home/.claude/.credentials.json", "$home/.claude.json", "$own/.claude", "$own/.claude.json")},
	{homeKeys, "logins of other programs", everyone, finds("logins", "$home/.netrc", "$home/.git-credentials",
		"$home/.docker", "$home/.aws", "$home/.config/gh", "$home/.npmrc")},
	{homeKeys, "by a name of the home in /proc", everyone,
		finds("ssh", "$others/root$home/.ssh/id_ed25519", "$others/cwd/../home/.ssh/id_ed25519")},
	{homeKeys, "by a link that it makes", everyone, linked(os.Symlink, "$tmp", "$home", "/.ssh/id_ed25519", readKey)},
	{homeKeys, "by a hard link that it makes", everyone, linked(os.Link, "$own", "$home/.ssh/id_ed25519", "", readKey)},
	{homeKeys, "of other users", everyone, func(a *attempt) string {
		homes, _ := filepath.Glob("/home/*")
		for _, home := range append(homes, "/root") {
			for _, name := range []string{".ssh", ".netrc", ".bashrc", ".profile", ".bash_history", ".gnupg"} {
				if home != a.Home && open(os.O_RDONLY, filepath.Join(home, name)) != "" {
					return name + " in " + home
				}
			}
		}
		return ""
	}},
}

func readKey(a *attempt, path string) string { return a.look(path, "ssh") }

// core lets a child of its own end with a core, if it can write one, and looks into it.
func (a *attempt) core() string {
	dir, err := os.MkdirTemp("", "probe-core")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	run("sh", "-c", `cd "$0" && ulimit -c unlimited && kill -ABRT $$`, dir)
	return a.below(dir, strings.Split(keys, ",")...)
}

// keyrings looks through the keys that the kernel keeps for a user and a session.
func (a *attempt) keyrings() string {
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING,
		unix.KEY_SPEC_SESSION_KEYRING} {
		id, err := unix.KeyctlSearch(ring, "user", "ralph-probe", 0)
		if err != nil {
			continue
		}
		b := make([]byte, 4096)
		if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0); err == nil && n <= len(b) {
			if name := a.seek(b[:n], "keyring"); name != "" {
				return "a key of the kernel's"
			}
		}
	}
	return ""
}

func (a *attempt) sharedMemory() string {
	if a.Memory <= 0 {
		return ""
	}
	b, err := unix.SysvShmAttach(a.Memory, 0, unix.SHM_RDONLY)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.SysvShmDetach(b) }()
	if a.seek(append([]byte{}, b...), "memory") != "" {
		return "segment of another"
	}
	return ""
}
