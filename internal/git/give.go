package git

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/proc"
)

// giveAll makes the agent's user, unless it is nil, the owner of everything below a name in a directory, and of that
// itself. No link is followed.
func giveAll(dir, name string, to *proc.User) error {
	if to == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return filepath.WalkDir(filepath.Join(dir, name), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		return root.Lchown(path, int(to.UID), int(to.GID))
	})
}

// giveFiles does the same for files of a directory, by their paths from there, and the directories that lead to them.
// Those that are gone are skipped.
func giveFiles(dir string, names []string, to *proc.User) error {
	if to == nil || len(names) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	done := map[string]bool{".": true}
	for _, name := range names {
		for ; !done[name]; name = filepath.Dir(name) {
			done[name] = true
			if _, err := root.Lstat(name); err != nil {
				continue // removed, or behind what is a link now
			}
			if err := root.Lchown(name, int(to.UID), int(to.GID)); err != nil {
				return err
			}
		}
	}
	return nil
}
