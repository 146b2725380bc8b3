package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Owner is what can be told of who has a directory.
type Owner struct {
	Dir   string // where the lock is: the top of the worktree, absolute and without links
	PID   int    // the process that has the lock, or the one that an abandoned lock names; 0: there is no lock
	Alive bool   // a process of that number lives
	// Holds says that it is the very process that took the lock, and not a later one of its number, nor one that someone
	// else wrote there: the system says so.
	Holds bool
	// Elsewhere says that someone has the lock who cannot be seen from here: a process of another container or machine.
	Elsewhere bool
}

// LockOwner says who has the worktree that dir is in, or dir itself outside of a clone. It takes no lock, and drops none:
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

// OwnerIn says who has a name in a directory of ours, as LockIn takes it.
func OwnerIn(dir, name string) (Owner, error) {
	if ours.has(filepath.Join(dir, name)) {
		return Owner{Dir: dir, PID: os.Getpid(), Alive: true, Holds: true}, nil
	}
	o, err := ownerOf(dir, name)
	if o.Dir = dir; errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
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

// Find is the state of the run in dir when it is one of a task; ok is false when it is another's, or there is none. Of
// a run of another task only the first record is read.
func Find(dir, task string) (s loop.State, ok bool, err error) {
	file, err := plain(filepath.Join(dir, File))
	if err != nil {
		return s, false, nil //nolint:nilerr // a directory without a journal is no run
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(file, maxLine), 64<<10).ReadBytes('\n')
	if err != nil {
		return s, false, nil //nolint:nilerr // a process that died before its first record was whole
	}
	var first loop.Record
	if err := json.Unmarshal(line, &first); err != nil || first.Start == nil || first.Start.Task != task {
		return s, false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return s, false, err
	}
	records, size, err := Read(file)
	if err != nil {
		info, failed := file.Stat()
		if failed != nil || !tornAt(file, size, info.Size()) {
			return s, false, err
		}
	}
	return loop.Fold(records), true, nil
}

// FindSealed is Find for a journal that others can write to: the state is that of the records which the seal vouches
// for. name is the seal's file; with an empty name it is Find. It changes nothing. The error is a *TamperedError when
// the run is one of the task and its journal is not what ralph has written: changed, missing, or without a seal where
// there are seals of other runs.
func FindSealed(dir, name, task string) (s loop.State, ok bool, err error) {
	if name == "" {
		return Find(dir, task)
	}
	known, err := readSeal(name)
	switch {
	case err != nil:
		return s, false, err
	case known == nil:
		return findUnsealed(dir, name, task)
	case known.task != "" && known.task != task:
		return s, false, nil
	case known.task == "": // nothing was announced in it
		if _, ok, err := Find(dir, task); !ok {
			return s, false, err
		}
	}
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotPlain) {
		return s, false, err
	}
	good, _, err := known.check(raw, name, bootID())
	if err != nil {
		return s, false, err
	}
	records, _, err := Read(bytes.NewReader(good))
	if err == nil && len(records) == 0 {
		err = errors.New("none of its records has reached the disk")
	}
	return loop.Fold(records), err == nil, err
}

// findUnsealed finds a run without a seal, which is to be believed only where there are no seals at all.
func findUnsealed(dir, name, task string) (s loop.State, ok bool, err error) {
	s, ok, err = Find(dir, task)
	if !ok || err != nil {
		return s, ok, err
	}
	if _, err := os.Lstat(filepath.Dir(name)); err != nil {
		return s, true, nil //nolint:nilerr // nobody has sealed anything here
	}
	return loop.State{}, false, &TamperedError{Run: filepath.Base(dir), Unknown: true, Over: over(s)}
}
