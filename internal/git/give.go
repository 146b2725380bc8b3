package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
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

// chmod sets the modes of everything below a directory, links aside; 0 leaves files. An executable file stays one.
func chmod(dir string, dirs, plain fs.FileMode) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Chmod(".", dirs|0o700); err != nil {
		return err
	}
	err = files.Walk(root, func(e files.Entry) error {
		switch {
		case e.Info.IsDir():
			return e.In.Chmod(e.Name, dirs)
		case plain == 0 || !e.Info.Mode().IsRegular():
			return nil
		}
		return e.In.Chmod(e.Name, plain|e.Info.Mode()&0o111)
	})
	return errors.Join(err, root.Chmod(".", dirs))
}

// giveTree gives a tree that the door's index has just been checked out to, to the user whom agents work as. Its files
// have another time of change then, so git reads them once more.
func (d door) giveTree(ctx context.Context, dir string, as *proc.User) error {
	if as == nil {
		return nil
	}
	err := giveAll(dir, ".", as)
	if err == nil {
		_, err = d.out(ctx, "update-index", "-q", "--refresh")
	}
	return ignore(err)
}
