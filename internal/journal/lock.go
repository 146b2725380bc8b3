package journal

import (
	"errors"
	"fmt"
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
			return func() { removeIf(name, mine) }, nil
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
