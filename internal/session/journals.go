package session

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// RunDir is the directory of a run on a laptop, by its name.
func (s *Session) RunDir(run string) string { return filepath.Join(s.Dir, ".ralph", "runs", run) }

// OpenJournal opens the journal of a run in the worktree, sealed: an agent that can write there cannot make it say what
// did not happen. Where there is no place for the seal the run continues without, and says so.
func (s *Session) OpenJournal(dir string) (*journal.Journal, error) {
	seal, err := SealFile(runtime.GOOS, s.Parent, s.Dir, filepath.Base(dir))
	if err != nil {
		s.Log("the run's journal is not sealed: %v", err)
	}
	book, err := journal.OpenSealed(dir, seal)
	var tampered *journal.TamperedError
	switch {
	case errors.As(err, &tampered):
		return nil, invalid.Mark(err)
	case err != nil:
		return nil, err
	}
	if why := book.Unsealed(); why != nil {
		s.Log("the run's journal is not sealed: %v", why)
	}
	if cut := book.Cut(); cut != "" {
		s.Log("%s", cut)
	}
	if s.Opened != nil {
		s.Opened(filepath.Base(dir), book.Bytes())
	}
	return book, nil
}

// NewestRun finds the newest run of a task in the directory, by what its seal vouches for; dir is empty when there is
// none. A run whose journal was changed or is missing is an error, unless the person wants a fresh start or the run had
// ended anyhow; so is one that a newer version has written.
func (s *Session) NewestRun(id string) (state loop.State, dir string, err error) {
	runs := filepath.Join(s.Dir, ".ralph", "runs")
	seals, err := SealFile(runtime.GOOS, s.Parent, s.Dir, "")
	if err != nil {
		seals = "" // book says so
	}
	names, err := RunNames(runs, seals)
	if err != nil {
		return state, "", err
	}
	for _, name := range slices.Backward(names) {
		dir, seal := filepath.Join(runs, name), ""
		if seals != "" {
			seal = filepath.Join(seals, name)
		}
		state, ok, err := journal.FindSealed(dir, seal, id)
		var tampered *journal.TamperedError
		switch newer := errors.As(err, new(*loop.NewerError)); {
		case newer && s.Fresh:
			s.Log("the run %s is not continued: %v", name, err)
			return loop.State{}, dir, nil
		case newer: // a new run beside it would take its place
			return loop.State{}, "", invalid.Errorf(
				"the journal of run %s: %w: resume with that version, or start over with --fresh", name, err,
			)
		case errors.As(err, &tampered) && tampered.Over:
			s.Log("%s. That run had ended, so it is skipped", tampered.What())
			if !tampered.Unknown { // an older run is none to continue with, after this one
				return loop.State{}, "", nil
			}
		case tampered != nil && s.Fresh:
			s.Log("%s", tampered.What())
			return loop.State{}, dir, nil
		case tampered != nil:
			return loop.State{}, "", invalid.Mark(err)
		case err != nil:
			s.Log("the run %s is skipped: %v", name, err)
		case ok:
			return state, dir, nil
		}
	}
	return loop.State{}, "", nil
}

// LostRun reports whether a seal reports a run of a task in the directory whose record is missing or was changed.
func (s *Session) LostRun(id string) bool {
	seals, err := SealFile(runtime.GOOS, s.Parent, s.Dir, "")
	if err != nil {
		return false
	}
	names, _ := RunNames("", seals) // none: nothing is known
	return slices.ContainsFunc(names, func(name string) bool {
		_, _, err := journal.FindSealed(s.RunDir(name), filepath.Join(seals, name), id)
		var tampered *journal.TamperedError
		return errors.As(err, &tampered) && !tampered.Unknown
	})
}

// EachSealedRun hands over the states of a task's runs in the directory, newest first, as far as their seals vouch for
// them.
func (s *Session) EachSealedRun(id string, do func(loop.State)) {
	runs := filepath.Join(s.Dir, ".ralph", "runs")
	seals, err := SealFile(runtime.GOOS, s.Parent, s.Dir, "")
	if err != nil {
		seals = ""
	}
	names, err := RunNames(runs, seals)
	if err != nil {
		return
	}
	for _, name := range slices.Backward(names) {
		seal := ""
		if seals != "" {
			seal = filepath.Join(seals, name)
		}
		if state, ok, err := journal.FindSealed(filepath.Join(runs, name), seal, id); ok && err == nil {
			do(state)
		}
	}
}

// RunNames are the names of the runs that there is a directory or a seal of, in order: they begin with the time.
func RunNames(runs, seals string) (names []string, err error) {
	for _, dir := range []string{runs, seals} {
		if dir == "" {
			continue
		}
		entries, err := os.ReadDir(dir)
		absent := errors.Is(err, fs.ErrNotExist) || dir == seals && errors.Is(err, syscall.ENOTDIR)
		if err != nil && !absent {
			return nil, fmt.Errorf("looking for earlier runs: %w", err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// SealFile is where the seal of a run in a directory is: among those of the directory's other runs, outside of it.
func SealFile(system string, env []string, dir, run string) (string, error) {
	state, err := StateDir(system, env)
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
	if rel, err := filepath.Rel(
		dir, state,
	); err == nil && rel != ".." &&
		!strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", fmt.Errorf("the directory for it, %s, is where the agent works", state)
	}
	return filepath.Join(state, "ralph", "seals", fmt.Sprintf("%x", sha256.Sum256([]byte(dir))), run), nil
}

// StateDir is where a system's programs keep what they want to find again, by the environment.
func StateDir(system string, env []string) (string, error) {
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
