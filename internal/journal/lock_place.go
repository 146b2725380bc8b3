package journal

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// gitLock is the lock in a git directory. The file stays when the lock is given back, empty.
const gitLock = "ralph/lock"

// lockPlace is where the locks of a directory are.
type lockPlace struct {
	top    string // the top of the worktree; outside of a clone the directory itself. Absolute, without links
	gitDir string // the git directory of that worktree alone; empty outside of a clone
}

// placeOf finds the worktree that a directory lies in. It reads files and starts no git.
func placeOf(dir string) (lockPlace, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return lockPlace{}, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir := gitDirAt(at); gitDir != "" {
			return lockPlace{at, gitDir}, nil
		}
		if at == filepath.Dir(at) {
			return lockPlace{top: dir}, nil
		}
	}
}

// gitDirAt is the git directory of a worktree whose top is at; empty when at is none. In a linked worktree and in a
// submodule, .git is a file that names it.
func gitDirAt(at string) string {
	name := filepath.Join(at, ".git")
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return ""
	case info.Mode().IsRegular():
		name = namedGitDir(at, name)
	case !info.IsDir():
		return ""
	}
	if _, err := os.Lstat(filepath.Join(name, "HEAD")); err != nil {
		return "" // an empty directory of that name is no clone, for git neither
	}
	return name
}

// namedGitDir reads the file of a worktree that names its git directory.
func namedGitDir(at, name string) string {
	file, err := plain(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 8<<10))
	dir, found := strings.CutPrefix(string(text), "gitdir: ")
	dir = strings.TrimRight(dir, "\r\n")
	if err != nil || !found || dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(at, dir)
	}
	return dir
}
