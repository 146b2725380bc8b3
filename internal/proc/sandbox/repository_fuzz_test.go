//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// place makes a file of a kind: a plain one, a pipe that nobody writes, a link to what has no end, a directory, or
// none.
func place(t *testing.T, name, text string, kind uint8) {
	t.Helper()
	err := os.RemoveAll(name)
	switch kind % 8 {
	default:
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644))
	case 4:
		err = errors.Join(err, syscall.Mkfifo(name, 0o644))
	case 5:
		err = errors.Join(err, os.Symlink("/dev/zero", name))
	case 6:
		err = errors.Join(err, os.Mkdir(name, 0o755))
	case 7:
	}
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzRepository: whatever stands where a repository says where the rest of it is, the look at it ends, and what is
// found is a worktree that its own clone knows of, and directories of objects.
func FuzzRepository(f *testing.F) {
	f.Add("gitdir: TOP/clone/worktrees/w", "TOP/tree/.git\n", "../..\n", "TOP/other/objects\n", uint8(0), uint8(0),
		uint8(0), uint8(0))
	f.Add("gitdir: ../clone/worktrees/w", "TOP/tree/.git", "TOP/clone", "/\n/objects\nTOP/clone/objects\n", uint8(0),
		uint8(0), uint8(0), uint8(0))
	f.Add("gitdir: TOP", "/", "/", "", uint8(0), uint8(4), uint8(4), uint8(4))
	f.Add("gitdir: TOP/clone/worktrees/w", "TOP/tree/.git", "/", "\x00", uint8(0), uint8(0), uint8(5), uint8(5))
	f.Add("", "", "", "", uint8(4), uint8(5), uint8(6), uint8(4))
	f.Add("", "", "", "", uint8(5), uint8(6), uint8(7), uint8(5))
	top := must(filepath.EvalSymlinks(f.TempDir()))
	for _, dir := range []string{"tree", "clone/worktrees/w", "clone/objects/info", "other/objects/info"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	tree := filepath.Join(top, "tree")
	f.Fuzz(func(t *testing.T, git, gitdir, commondir, alternates string, kGit, kGitdir, kCommon, kAlternates uint8) {
		whole := func(text string) string { return strings.ReplaceAll(text, "TOP", top) }
		at := filepath.Join(top, "clone/worktrees/w")
		place(t, filepath.Join(tree, ".git"), whole(git), kGit)
		place(t, filepath.Join(at, "gitdir"), whole(gitdir), kGitdir)
		place(t, filepath.Join(at, "commondir"), whole(commondir), kCommon)
		place(t, filepath.Join(top, "clone/objects/info/alternates"), whole(alternates), kAlternates)
		dir, common := linked(filepath.Join(tree, ".git"))
		if (dir == "") != (common == "") || common != "" && (common != filepath.Join(top, "clone") ||
			filepath.Clean(dir) != at) {
			t.Errorf("%q, %q and %q lead to %q of %q", git, gitdir, commondir, dir, common)
		}
		found := borrowed(tree)
		for i, name := range found {
			if i > 0 && (filepath.Base(name) != "objects" || !isDir(name)) || !filepath.IsAbs(name) {
				t.Errorf("%q of %q", name, alternates)
			}
		}
		if len(found) > 100 {
			t.Errorf("%d directories", len(found))
		}
	})
}
