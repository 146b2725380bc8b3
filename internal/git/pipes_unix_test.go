//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNobodyWaitsForAPipe: a pipe, or a link to what has no end, in the place of a small file of a repository says
// nothing, and is not waited for.
func TestNobodyWaitsForAPipe(t *testing.T) {
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	noError(t, os.MkdirAll(filepath.Join(agent, ".git", "objects"), 0o755))
	noError(t, os.MkdirAll(filepath.Join(agent, ".git", "refs"), 0o755))
	for _, c := range []struct {
		file string
		read func() bool // reports whether it has read anything
	}{
		{"commondir", func() bool { return commonOf(dir) != dir }},
		{".git", func() bool { return moduleDir(dir) != "" }},
		{"agent/.git/HEAD", func() bool { _, err := readAgents(agent); return err == nil }},
		{"objects/info/alternates", func() bool { return len(objectDirs(filepath.Join(dir, "objects"))) != 1 }},
	} {
		name := filepath.Join(dir, c.file)
		noError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		for what, put := range map[string]func() error{
			"a pipe":           func() error { return syscall.Mkfifo(name, 0o644) },
			"a link to no end": func() error { return os.Symlink("/dev/zero", name) },
			"a directory":      func() error { return os.Mkdir(name, 0o755) },
		} {
			if what == "a directory" && c.file == ".git" { // that is a repository
				continue
			}
			noError(t, put())
			done := make(chan bool, 1)
			go func() { done <- c.read() }()
			select {
			case read := <-done:
				if read {
					t.Errorf("%s for %s says something", what, c.file)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s for %s is waited for", what, c.file)
			}
			noError(t, os.Remove(name))
		}
	}
}

// FuzzSmallFiles: whatever the small files of a repository say, a HEAD that is taken for sound names a commit or a ref
// inside of refs, and what they lead to is a path that is clean and, for a submodule, a repository.
func FuzzSmallFiles(f *testing.F) {
	for _, text := range []string{"ref: refs/heads/main\n", "1234567890123456789012345678901234567890\n", "ref: refs/../x",
		"ref: refs/heads/a\x00b", "ref:\trefs/heads/x", "gitdir: ../m\n", "gitdir: /", "../..\n", "", "\x00\xff",
		"gitdir: m\ngitdir: /", "ref: refs/heads/a\nrefs/heads/b", "ref: refs/heads/"} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	noError(f, os.MkdirAll(filepath.Join(dir, "m", "objects"), 0o755))
	git, common := filepath.Join(dir, ".git"), filepath.Join(dir, "commondir")
	agent := filepath.Join(dir, "agent")
	for _, name := range []string{"objects", "refs"} {
		noError(f, os.MkdirAll(filepath.Join(agent, ".git", name), 0o755))
	}
	if err := os.WriteFile(filepath.Join(agent, ".git", "packed-refs"), []byte(strings.Repeat("1", 40)+" refs/heads/main\n"),
		0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		noError(t, os.WriteFile(filepath.Join(agent, ".git", "HEAD"), text, 0o644))
		if l, err := readAgents(agent); err == nil && (!isID(l.commit) || l.ref != "" && l.ref != "refs/heads/main") {
			t.Errorf("%q is taken for a HEAD: %+v", text, l.place)
		}
		noError(t, os.WriteFile(git, text, 0o644))
		noError(t, os.WriteFile(common, text, 0o644))
		if module := moduleDir(dir); module != "" && (filepath.Clean(module) != module || !filepath.IsAbs(module) ||
			!isDirectory(filepath.Join(module, "objects"))) {
			t.Errorf("%q leads to %q", text, module)
		}
		if of := commonOf(dir); filepath.Clean(of) != of || !filepath.IsAbs(of) {
			t.Errorf("%q leads to %q", text, of)
		}
	})
}
