package give

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/proc"
)

// laidOut is a tree that git has laid out, with git as its own user would start it there.
func laidOut(t *testing.T, options ...string) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	git(append([]string{"init", "-q"}, options...)...)
	for _, name := range []string{"a.txt", "dir/b.txt", "dir/sub/c d.txt", "dir/sub/deep/e\n.txt", "dir.txt",
		"z/" + strings.Repeat("n", 200) + "/" + strings.Repeat("m", 250), "z/last"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755),
			os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("a.txt", filepath.Join(dir, "link")),
		os.Chmod(filepath.Join(dir, "z", "last"), 0o755)); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("read-tree", "--reset", "-u", strings.TrimSpace(git("write-tree")))
	// To git a file of the same second as the index may be another one, so it reads it. These are older.
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return os.Chtimes(name, long, long)
	})
	if err != nil {
		t.Fatal(err)
	}
	git("update-index", "--refresh")
	return dir, git
}

var long = time.Now().Add(-time.Hour)

func tree(dir string) Tree { return Tree{dir, filepath.Join(dir, ".git", "index")} }

// somebody gets the trees. Only root can give files to others; that they get a new time is so without it, too.
var somebody = func() *proc.User {
	if id := os.Getuid(); id != 0 {
		return &proc.User{UID: uint32(id), GID: uint32(os.Getgid())}
	}
	return &proc.User{UID: 54321, GID: 54321}
}()

// owners names what lies in a tree and is not somebody's.
func owners(t *testing.T, dir string) (others []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != somebody.UID {
			others = append(others, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return others
}

// TestGivenTreeIsNotReadAgain: a tree that was given away has the same files to git, and it knows so without reading
// them. diff-files tells those that it would have to read.
func TestGivenTreeIsNotReadAgain(t *testing.T) {
	dir, git := laidOut(t)
	git("update-index", "--skip-worktree", "dir/b.txt") // makes the index one of version 3
	give := func() {
		t.Helper()
		if err := LaidOut(tree(dir), somebody); err != nil {
			t.Fatal(err)
		}
		if others := owners(t, dir); len(others) > 0 {
			t.Errorf("not given away: %q", others)
		}
	}
	give()
	if got := git("diff-files", "--name-only"); got != "" {
		t.Errorf("to be read again:\n%s", got)
	}
	if old := time.Unix(1, 0); os.Chtimes(filepath.Join(dir, "a.txt"), old, old) != nil {
		t.Fatal("a.txt cannot be made older")
	}
	if got := git("diff-files", "--name-only"); got != "a.txt\n" { // this is how it would look
		t.Errorf("to be read again: %q", got)
	}

	file := filepath.Join(dir, "dir", "sub", "c d.txt")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // git compares whole seconds
	if err := errors.Join(os.WriteFile(file, []byte("DIR/sub/c d.txt\n"), 0o644),
		os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil { // as long, and as old
		t.Fatal(err)
	}
	give()
	if got := git("diff", "--name-only"); got != "dir/sub/c d.txt\n" {
		t.Errorf("changed before it was given away:\n%s", got)
	}
}

// TestGivingFollowsNoLink: what lies elsewhere stays whose it is, and what is gone is skipped.
func TestGivingFollowsNoLink(t *testing.T) {
	dir, git := laidOut(t)
	outside := t.TempDir()
	if err := errors.Join(os.Rename(filepath.Join(dir, "dir"), filepath.Join(outside, "dir")),
		os.Symlink(filepath.Join(outside, "dir"), filepath.Join(dir, "dir")),
		os.RemoveAll(filepath.Join(dir, "z"))); err != nil {
		t.Fatal(err)
	}
	if err := LaidOut(tree(dir), somebody); err != nil {
		t.Fatal(err)
	}
	if got := owners(t, filepath.Join(outside, "dir")); os.Getuid() == 0 && len(got) != 6 {
		t.Errorf("given away outside of the tree; still ours are only %q", got)
	}
	if got := git("diff-files", "--name-only"); strings.Contains(got, "a.txt") || !strings.Contains(got, "dir/b.txt") {
		t.Errorf("to be read again:\n%s", got)
	}
}

// TestOtherIndexes are left to git.
func TestOtherIndexes(t *testing.T) {
	for name, options := range map[string][]string{"SHA-256": {"--object-format=sha256"}, "version 4": nil} {
		t.Run(name, func(t *testing.T) {
			dir, git := laidOut(t, options...)
			if options == nil {
				git("update-index", "--index-version", "4")
			}
			err := LaidOut(tree(dir), somebody)
			if !errors.Is(err, ErrOtherIndex) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// FuzzIndex: whatever lies where the index should, nothing breaks, and what is understood is read to its end.
func FuzzIndex(f *testing.F) {
	entry := make([]byte, 72)
	copy(entry[atName:], "a.txt")
	whole := append(binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), 2), append(entry, entry...)...)
	f.Add(whole)
	f.Add(whole[:100])
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := filepath.Join(t.TempDir(), "index")
		file := indexFile(append(raw, make([]byte, 20)...)).summed()
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := readIndex(name)
		if err != nil {
			return
		}
		for e := range x.entries() {
			if n := e.name(); strings.Contains(n, "\x00") {
				t.Errorf("the name %q", n)
			}
			e.restamp(unix.Stat_t{Uid: somebody.UID})
		}
	})
}
