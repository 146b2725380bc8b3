package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/ralph-loop/ralph/internal/files"
)

// A directory for what no one needs after this process is held by a lock that the kernel keeps: it is dropped when the
// process ends, however it ends. So the next process can tell what a killed one has left from what a living one works
// with, and removes it.

// tempName is what these directories are called. No other program, and no earlier ralph, makes such a name.
var tempName = regexp.MustCompile(`^ralph-[A-Z2-7]{12}$`)

// tempTries is how often a directory is made again that someone took for abandoned before it was held.
const tempTries = 100

// cleared are the directories in which this process has looked for what killed ones have left.
var cleared struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// TempDir makes a directory below parent, "" is the system's for temporary files, that no one but us may look into. It
// is held until remove is called or the process ends. The first one in a parent removes there what processes that were
// killed have left.
func TempDir(parent string) (dir string, remove func(), err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	ClearTemp(parent)
	for range tempTries {
		dir = filepath.Join(parent, "ralph-"+rand.Text()[:12])
		if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return "", nil, fmt.Errorf("making a directory for temporary files: %w", err)
		}
		held, got, err := holdDir(dir)
		if got || err != nil { // without locks no one removes it but us
			return dir, func() { throwAway(dir, held) }, nil
		}
	}
	return "", nil, fmt.Errorf("making a directory for temporary files: others remove what is made in %s", parent)
}

// ClearTemp removes from a directory, "" is the system's for temporary files, what processes that were killed have left
// there, and ends what still runs in it. Only what TempDir has made counts, for our own user, and no one holds. It
// looks once in the life of a process.
func ClearTemp(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	cleared.mu.Lock()
	defer cleared.mu.Unlock()
	if cleared.dirs[parent] {
		return
	}
	if cleared.dirs == nil {
		cleared.dirs = map[string]bool{}
	}
	cleared.dirs[parent] = true
	entries, _ := os.ReadDir(parent) // what does not exist has nothing left in it
	for _, e := range entries {
		if !e.IsDir() || !tempName.MatchString(e.Name()) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if held, got, _ := holdDir(dir); got { // no one else has it
			EndLeft(dir)
			throwAway(dir, held)
		}
	}
}

// throwAway removes a directory that we hold, also where a build has closed directories in it. No link is followed.
func throwAway(dir string, held *os.File) {
	letGo(held, false)
	_ = files.RemoveAll(dir)
	letGo(held, true)
}
