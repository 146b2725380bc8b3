package engine

import (
	"io/fs"
	"os"

	"github.com/ralph-loop/ralph/internal/files"
)

// RemovePartial removes the files that a killed process was about to put in the place of others. No link leads it out
// of the directory.
func RemovePartial(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	halves, _ := fs.Glob(root.FS(), ".ralph/runs/*/*"+files.NewSuffix) // the pattern is sound
	for _, name := range append(halves, ActiveFile+files.NewSuffix, StateFile+files.NewSuffix) {
		_ = root.Remove(name)
	}
}

// ActiveFile tells an agent's hooks that a plan is run, and how.
const ActiveFile = ".ralph-active"

// StateFile is the view of the journal that people and agents read.
const StateFile = ".ralph_state.md"
