package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Place is a run's directory, and when its journal was last written to.
type Place struct {
	Dir string
	At  time.Time
}

// Places are the directories in dir that hold a journal, the one that was written to last before the others. A dir that
// does not exist has none.
func Places(dir string) ([]Place, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for runs: %w", err)
	}
	var found []Place
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if info, err := os.Stat(filepath.Join(at, File)); err == nil && info.Mode().IsRegular() {
			found = append(found, Place{at, info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b Place) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Dir, a.Dir)) })
	return found, nil
}

// Follower reads a journal that another process may be writing, and later what has come since.
type Follower struct {
	name  string
	file  fs.FileInfo
	at    int64
	state loop.State
}

// Follow begins before the first record of the journal in dir.
func Follow(dir string) *Follower { return &Follower{name: filepath.Join(dir, File)} }

// Next is the state after the records that exist now; grew says whether there were new ones. A last line that is
// still being written is left for the next time.
func (f *Follower) Next() (s loop.State, grew bool, err error) {
	file, err := plain(f.name)
	if err != nil {
		return f.state, false, fmt.Errorf("reading the journal: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f.state, false, fmt.Errorf("reading the journal: %w", err)
	}
	if f.file != nil && (info.Size() < f.at || !os.SameFile(f.file, info)) { // it was written again
		f.at, f.state = 0, loop.State{}
	}
	f.file = info
	if info.Size() == f.at {
		return f.state, false, nil
	}
	records, whole, err := Read(io.NewSectionReader(file, f.at, info.Size()-f.at))
	if err != nil && !tornAt(file, f.at+whole, info.Size()) {
		return f.state, false, fmt.Errorf("reading the journal %s: %w", f.name, err)
	}
	for _, r := range records {
		f.state = f.state.With(r)
	}
	f.at += whole
	return f.state, len(records) > 0, nil
}
