package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
)

// runDir is a directory of the run's own: records, prompts, outputs. On a laptop it lies in the worktree, and where no
// sandbox closes it an agent can put links in the place of what leads there. None is followed.
type runDir struct{ top, dir string }

func (spec *Spec) aside(dir string) runDir { return runDir{spec.Workspace.Dir(), dir} }

// open opens it, and makes it where it is missing.
func (a runDir) open() (*os.Root, error) {
	if rel, err := filepath.Rel(a.top, a.dir); err == nil && filepath.IsLocal(rel) {
		return files.OpenBelow(a.top, a.dir)
	}
	if err := os.MkdirAll(a.dir, 0o755); err != nil { // nobody but ralph writes there
		return nil, err
	}
	return os.OpenRoot(a.dir)
}

// write puts a file there, in the place of whatever has its name.
func (a runDir) write(name string, content []byte, mode fs.FileMode) error {
	root, err := a.open()
	if err != nil {
		return err
	}
	return errors.Join(files.Write(root, name, content, mode), root.Close())
}

// remove removes files from it; what cannot be removed stays.
func (a runDir) remove(names ...string) {
	root, err := a.open()
	if err != nil {
		return
	}
	for _, name := range names {
		_ = root.Remove(name)
	}
	_ = root.Close()
}
