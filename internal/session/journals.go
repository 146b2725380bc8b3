package session

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// RunDir is the directory of a run on a laptop, by its name.
func (s *Session) RunDir(run string) string { return filepath.Join(s.Dir, ".ralph", "runs", run) }

// OpenJournal opens the journal of a run in the worktree, sealed: an agent that can write there cannot make it say what
// did not happen. Where there is no place for the seal the run continues without, and says so.
func (s *Session) OpenJournal(dir string) (*journal.Journal, error) {
	seal, err := s.Seal(filepath.Base(dir))
	if err != nil {
		s.Log("the run's journal is not sealed: %v", err)
	}
	book, err := journal.OpenSealed(dir, seal)
	switch _, tampered := errors.AsType[*journal.TamperedError](err); {
	case tampered:
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
		if records, _, err := journal.Read(bytes.NewReader(book.Bytes())); err == nil {
			s.Opened(records)
		}
	}
	return book, nil
}

// NewestRun finds the newest run of a task in the directory, by what its seal vouches for; dir is empty without one. A
// run whose journal was changed or is missing is an error, unless the person wants a fresh start or the run had ended
// anyhow; so is one that a newer version has written.
func (s *Session) NewestRun(id string) (state loop.State, dir string, err error) {
	for run := range s.sealedRuns(id) {
		tampered, changed := errors.AsType[*journal.TamperedError](run.err)
		switch _, newer := errors.AsType[*loop.NewerError](run.err); {
		case run.dir == "":
			return state, "", run.err
		case newer && s.Fresh:
			s.Log("the run %s is not continued: %v", filepath.Base(run.dir), run.err)
			return loop.State{}, run.dir, nil
		case newer: // a new run beside it would take its place
			return loop.State{}, "", invalid.Errorf("the journal of run %s: %w: resume with that version, or start over with "+
				"--fresh", filepath.Base(run.dir), run.err)
		case changed && tampered.Over:
			s.Log("%s. That run had ended, so it is skipped", tampered.What())
			if !tampered.Unknown { // an older run is not continued after this one
				return loop.State{}, "", nil
			}
		case changed && s.Fresh:
			s.Log("%s", tampered.What())
			return loop.State{}, run.dir, nil
		case changed:
			return loop.State{}, "", invalid.Mark(run.err)
		case run.err != nil:
			s.Log("the run %s is skipped: %v", filepath.Base(run.dir), run.err)
		default:
			return run.state, run.dir, nil
		}
	}
	return loop.State{}, "", nil
}

// LostRun reports whether there is a seal of a run of the task in the directory whose record is missing or was changed.
func (s *Session) LostRun(id string) bool {
	for run := range s.sealedRuns(id) {
		if tampered, ok := errors.AsType[*journal.TamperedError](run.err); ok && !tampered.Unknown {
			return true
		}
	}
	return false
}

// EachSealedRun calls do with the states of a task's runs in the directory, newest first, as far as their seals vouch
// for them.
func (s *Session) EachSealedRun(id string, do func(loop.State)) {
	for run := range s.sealedRuns(id) {
		if run.err == nil {
			do(run.state)
		}
	}
}

// sealedRun is a run of a task in its directory, or the error of its journal; without a directory, that of looking for runs.
type sealedRun struct {
	dir   string
	state loop.State
	err   error
}

// sealedRuns are the runs of a task in the directory, newest first, as far as their seals vouch for them.
func (s *Session) sealedRuns(id string) iter.Seq[sealedRun] {
	return func(yield func(sealedRun) bool) {
		seals, _ := s.Seal("") // reported by OpenJournal
		names, err := RunNames(s.RunDir(""), seals)
		if err != nil {
			yield(sealedRun{err: err})
			return
		}
		for _, name := range slices.Backward(names) {
			run, seal := sealedRun{dir: s.RunDir(name)}, ""
			if seals != "" {
				seal = filepath.Join(seals, name)
			}
			ok := false
			run.state, ok, run.err = journal.FindSealed(run.dir, seal, id)
			if (ok || run.err != nil) && !yield(run) {
				return
			}
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
		names = append(names, safetext.Map(entries, fs.DirEntry.Name)...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Seal is where the seal of a run in the directory is: among those of the directory's other runs, outside of it.
func (s *Session) Seal(run string) (string, error) {
	return sealFile(runtime.GOOS, s.Parent, s.Dir, run)
}

func sealFile(system string, env []string, dir, run string) (string, error) {
	state, err := StateDir(system, env)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	dir, state = realPath(dir), realPath(state)
	if liesIn(dir, state) {
		return "", fmt.Errorf("the directory for it, %s, is where the agent works", state)
	}
	return filepath.Join(state, "ralph", "seals", fmt.Sprintf("%x", sha256.Sum256([]byte(dir))), run), nil
}
