package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Owner is what can be told of who has a directory.
type Owner struct {
	Dir   string // where the lock is: the top of the worktree, absolute and without links
	PID   int    // the process that has the lock, or the one that an abandoned lock names; 0: there is no lock
	Alive bool   // a process of that number lives
	// Holds says that it is the very process that took the lock, and not a later one of its number, nor one that somebody
	// else wrote there: the system says so.
	Holds bool
	// Elsewhere says that somebody has the lock who cannot be seen from here: a process of another container or machine.
	Elsewhere bool
}

// LockOwner says who has the worktree that dir lies in, or dir itself outside of a clone. It takes no lock, and drops none:
// a process that asks after its own lock gets the answer without a file being opened.
func LockOwner(dir string) (Owner, error) {
	place, err := placeOf(dir)
	if err != nil {
		return Owner{}, fmt.Errorf("looking for the lock: %w", err)
	}
	if ours.has(place.top) {
		return Owner{Dir: place.top, PID: os.Getpid(), Alive: true, Holds: true}, nil
	}
	if place.gitDir != "" {
		o, err := ownerOf(place.gitDir, gitLock)
		if err == nil && (o.Holds || o.Elsewhere) { // what agents can reach less easily says more
			o.Dir = place.top
			return o, nil
		}
	}
	o, err := ownerOf(place.top, LockFile)
	o.Dir = place.top
	return o, err
}

// ownerOf is what one lock says.
func ownerOf(dir, name string) (o Owner, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return o, fmt.Errorf("looking for the lock: %w", err)
	}
	defer root.Close()
	file, err := openPlain(root, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("reading the lock: %w", err)
	}
	defer file.Close()
	return has(file, pidIn(file)), nil
}
