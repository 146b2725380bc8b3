package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// settle clears away what an agent or a killed git left in the way of our own commands.
func (t *checkout) settle() error {
	_ = os.Remove(t.index + ".lock") // the index is used by no one else
	if info, err := os.Lstat(t.work); err == nil && info.IsDir() {
		return nil
	}
	if err := os.RemoveAll(t.work); err != nil { // a link instead of the working tree leads elsewhere
		return fmt.Errorf("making the working tree again: %w", err)
	}
	if err := os.Mkdir(t.work, 0o755); err != nil {
		return fmt.Errorf("making the working tree again: %w", err)
	}
	return giveAll(t.work, ".", t.o.As)
}

// removeLocks removes every lock in a repository that no one but us uses.
func removeLocks(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // what is in the way is told by the next command
		case d.IsDir() && d.Name() == "objects":
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".lock"):
			_ = os.Remove(path)
		}
		return nil
	})
}
