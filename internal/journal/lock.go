package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockFile is the lock's name in the directory that it guards; it holds the owner's process number (S0-10).
const LockFile = ".ralph.lock"

// HeldError is a lock whose owner lives (S0-11).
type HeldError struct{ PID int }

func (e *HeldError) Error() string {
	return fmt.Sprintf("ERROR: Another Ralph loop active (PID %d)", e.PID)
}

// Lock takes the directory for this process. A lock whose process is dead is taken over (S0-12). The returned function gives it back,
// and removes nothing that is not its own.
func Lock(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, LockFile)
	mine := strconv.Itoa(os.Getpid())
	for range 3 { // somebody may take over the same dead lock at the same time
		err := createLock(name, mine)
		if err == nil {
			release := keep(name)
			return func() { removeIf(name, mine); release() }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("taking the lock %s: %w", name, err)
		}
		held, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("taking the lock: %w", err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(held)))
		if pid > 0 && alive(pid) {
			return nil, &HeldError{pid}
		}
		removeIf(name, string(held))
	}
	return nil, fmt.Errorf("taking the lock %s: another process keeps taking it; try again", name)
}

// createLock makes the lock with its content in one step, so that nobody reads a lock without an owner.
func createLock(name, content string) error {
	temp, err := os.CreateTemp(filepath.Dir(name), LockFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.WriteString(content + "\n")
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), name)
}

func removeIf(name, content string) {
	if held, err := read(name); err == nil && strings.TrimSpace(string(held)) == strings.TrimSpace(content) {
		_ = os.Remove(name)
	}
}

// Owner is what can be told of who has a directory.
type Owner struct {
	PID   int  // the process that the lock names; 0: there is no lock
	Alive bool // a process of that number lives
	// Holds says that it is the very process that took the lock, and not a later one of its number, nor one that somebody else wrote
	// there: the system says so.
	Holds bool
	// Elsewhere says that somebody has the lock who cannot be seen from here: a process of another container or machine.
	Elsewhere bool
}

// Held says who has the directory.
func Held(dir string) (o Owner, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return o, fmt.Errorf("looking for the lock: %w", err)
	}
	defer root.Close()
	file, err := openPlain(root, LockFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("reading the lock: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 32))
	if err != nil {
		return o, fmt.Errorf("reading the lock: %w", err)
	}
	if o.PID, _ = strconv.Atoi(strings.TrimSpace(string(text))); o.PID <= 0 {
		return Owner{}, nil // which the next run takes over
	}
	o.Alive = alive(o.PID)
	o.Holds, o.Elsewhere = has(file, o.PID)
	return o, nil
}
