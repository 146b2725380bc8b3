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
	tree := &Tree{work: dir, state: dir, branch: "ralph/issue-42",
		user: users{dir: filepath.Join(dir, "worktrees/w"), common: dir}}
	for _, c := range []struct {
		file string
		read func() bool // reports whether it has read anything
	}{
		{"commondir", func() bool { return commonOf(dir) != dir }},
		{".git", func() bool { return moduleDir(dir) != "" }},
		{"branch", func() bool { return tree.earlierBase() != "" }},
		{"HEAD", func() bool { return tree.checkedOutElsewhere("refs/heads/x") }},
		{"objects/info/alternates", func() bool { return len(objectDirs(filepath.Join(dir, "objects"))) != 1 }},
		{"worktrees/v/gitdir", func() bool { return tree.usedIn() != "" }},
	} {
		name := filepath.Join(dir, c.file)
		mustDo(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if strings.HasSuffix(c.file, "gitdir") {
			mark := filepath.Join(filepath.Dir(name), "ralph", stateName(tree.branch), "branch")
			mustDo(t, os.MkdirAll(filepath.Dir(mark), 0o755))
			mustDo(t, os.WriteFile(mark, nil, 0o644))
		}
		for what, put := range map[string]func() error{
			"a pipe":           func() error { return syscall.Mkfifo(name, 0o644) },
			"a link to no end": func() error { return os.Symlink("/dev/zero", name) },
			"a directory":      func() error { return os.Mkdir(name, 0o755) },
		} {
			if what == "a directory" && c.file == ".git" { // that is a repository
				continue
			}
			mustDo(t, put())
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
			mustDo(t, os.Remove(name))
		}
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
	if err := os.MkdirAll(filepath.Join(dir, "m", "objects"), 0o755); err != nil {
		f.Fatal(err)
	}
	git, common := filepath.Join(dir, ".git"), filepath.Join(dir, "commondir")
	f.Fuzz(func(t *testing.T, text []byte) {
		if soundHead(text) {
			line := strings.TrimSpace(string(text))
			name, symbolic := strings.CutPrefix(line, "ref: refs/")
			if strings.ContainsAny(line, "\n\x00") || symbolic && (name == "" || strings.Contains(name, "..")) ||
				!symbolic && len(line) != 40 && len(line) != 64 {
				t.Errorf("%q is taken for a HEAD", text)
			}
		}
		mustDo(t, os.WriteFile(git, text, 0o644))
		mustDo(t, os.WriteFile(common, text, 0o644))
		if module := moduleDir(dir); module != "" && (filepath.Clean(module) != module || !filepath.IsAbs(module) ||
			!isDirectory(filepath.Join(module, "objects"))) {
			t.Errorf("%q leads to %q", text, module)
		}
		if of := commonOf(dir); filepath.Clean(of) != of || !filepath.IsAbs(of) {
			t.Errorf("%q leads to %q", text, of)
		}
	})
}
