package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/session"
)

// ralph keeps data of clones outside of them, so deleting a clone does not delete its data. A doctor shows where it is,
// and which of it belongs to no clone.

// StoredData is what ralph keeps for clones in the directories of the user.
type StoredData struct {
	Dirs   []string `json:"dirs"`
	Clones int      `json:"clones"`
	Gone   []string `json:"gone"` // directories of deleted clones
}

// keptFor looks at the directories that clones have a place in: for the system, by the environment.
func keptFor(system string, env []string) StoredData {
	k := StoredData{Dirs: []string{}, Gone: []string{}}
	roots := []string{engine.CacheDir(system, env)}
	if state, err := session.StateDir(system, env); err == nil && state != roots[0] {
		roots = append(roots, state)
	}
	known := map[string]bool{}
	for _, root := range slices.DeleteFunc(roots, func(root string) bool { return root == "" }) {
		dir := filepath.Join(root, "ralph", "clones")
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 {
			continue
		}
		k.Dirs = append(k.Dirs, dir)
		for _, e := range entries {
			known[e.Name()] = true
			if at := filepath.Join(dir, e.Name()); cloneGone(at) {
				k.Gone = append(k.Gone, at)
			}
		}
	}
	k.Clones = len(known)
	slices.Sort(k.Gone)
	return k
}

// cloneGone reports whether the clone no longer exists that a directory was made for. One that does not say for
// which stays.
func cloneGone(dir string) bool {
	text, err := files.Read(filepath.Join(dir, session.CloneNote))
	clone := strings.TrimSuffix(string(text), "\n")
	if err != nil || !filepath.IsAbs(clone) {
		return false
	}
	_, err = os.Stat(clone)
	return errors.Is(err, fs.ErrNotExist)
}
