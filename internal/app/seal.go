package app

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proc"
)

// book opens the journal of a run in the worktree, sealed: an agent that can write there cannot make it say what did not happen. Where there
// is no place for the seal the run goes on without, and says so.
func (s *Seat) book(dir string) (*journal.Journal, error) {
	seal, err := sealFile(runtime.GOOS, s.Parent, s.Dir, filepath.Base(dir))
	if err != nil {
		s.log("the run's journal is not sealed: %v", err)
		return journal.Open(dir)
	}
	book, err := journal.OpenSealed(dir, seal)
	var tampered *journal.TamperedError
	switch {
	case errors.As(err, &tampered):
		return nil, &invalidError{err}
	case err != nil:
		return nil, err
	}
	if why := book.Unsealed(); why != nil {
		s.log("the run's journal is not sealed: %v", why)
	}
	return book, nil
}

// sealFile is where the seal of a run in a directory is: among those of the directory's other runs, outside of it.
func sealFile(system string, env []string, dir, run string) (string, error) {
	state, err := stateDir(system, env)
	if err != nil {
		return "", err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(state); err == nil {
		state = real
	}
	if rel, err := filepath.Rel(dir, state); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", fmt.Errorf("the directory for it, %s, lies where the agent works", state)
	}
	return filepath.Join(state, "ralph", "seals", fmt.Sprintf("%x", sha256.Sum256([]byte(dir))), run), nil
}

// stateDir is where a system's programs keep what they want to find again, by the environment.
func stateDir(system string, env []string) (string, error) {
	dirs, ok := stateDirs[system]
	if !ok {
		dirs = stateDirs["linux"]
	}
	for _, at := range dirs {
		if dir := proc.Value(env, at.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(at.below)), nil
		}
	}
	return "", errors.New("the environment names no home directory")
}

// stateDirs are the variables that lead to the directory, in order, and what follows.
var stateDirs = map[string][]struct{ name, below string }{
	"linux":   {{"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}},
	"darwin":  {{"HOME", "Library/Application Support"}},
	"windows": {{"LOCALAPPDATA", ""}, {"LocalAppData", ""}},
}
