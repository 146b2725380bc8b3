package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Lock takes the directory for this process, until unlock is called. unlock is never nil.
func (s *Session) Lock() (unlock func(), err error) {
	left, _ := journal.LockOwner(s.Dir) // what is in the way of an answer is in the way of the lock
	unlock, err = journal.Lock(s.Dir, s.Log)
	if err != nil {
		return func() {}, err
	}
	s.Killed = left.PID != 0 // whoever ends otherwise gives its lock back
	s.Clear()
	return unlock, nil
}

// Clear removes what processes that were killed have left, once no one else is in the directory.
func (s *Session) Clear() {
	proc.ClearTemp("")
	scratch := s.Places().Scratch
	s.endLeft(s.Dir, scratch)
	_ = removeScratch(scratch) // what cannot be removed is told by whoever needs the place
	_ = os.Remove(filepath.Join(s.Dir, engine.ActiveFile))
	engine.RemovePartial(s.Dir)
}

// endLeft ends what processes that were killed have left running in directories of theirs.
func (s *Session) endLeft(dirs ...string) {
	if ended := proc.EndLeft(dirs...); ended > 0 {
		s.Log(
			"%s ended that an earlier ralph had left when it was killed",
			safetext.Counted(ended, "process is", "processes are"),
		)
	}
}

// places are the directories of ours for a clone, outside of it where an agent has no business.
type places struct {
	Clone   string // what they are for
	State   string // what outlives a process: how the run's own repository stands
	Scratch string // what does not: checkouts, homes
}

// CloneNote is a file in each of them that names the clone, for whoever wonders what the directory is.
const CloneNote = "clone"

// Places finds them. Where the user has no such directories, or they lie in the clone, they are in its .git.
func (s *Session) Places() places { return s.placesOn(runtime.GOOS) }

func (s *Session) placesOn(system string) places {
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		dir = s.Dir
	}
	sum := sha256.Sum256([]byte(dir))
	name := filepath.Join("ralph", "clones", hex.EncodeToString(sum[:8]))
	own := filepath.Join(GitDir(dir), "ralph", "own")
	p := places{Clone: dir, State: own}
	if state, err := StateDir(system, s.Parent); err == nil && !liesIn(dir, state) {
		p.State = filepath.Join(state, name)
	}
	if cache := engine.CacheDir(system, s.Parent); cache != "" && !liesIn(dir, cache) {
		p.Scratch = filepath.Join(cache, name)
	}
	if p.Scratch == "" || p.Scratch == p.State { // some systems have one directory for both
		p.Scratch = filepath.Join(p.State, "scratch")
	}
	return p
}

// GitDir is where a working tree's repository is; of one that is linked to another's, its own part of that.
func GitDir(top string) string {
	git := filepath.Join(top, ".git")
	text, err := files.Read(git)
	if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); err == nil && ok {
		if !filepath.IsAbs(to) {
			to = filepath.Join(top, to)
		}
		return filepath.Clean(to)
	}
	return git
}

// clearPlaces removes what a process that died has left in the scratch of a clone's run, and makes it. The directories
// that are given besides say what clone they are for. Whoever calls it keeps others out of the scratch.
func clearPlaces(clone, scratch string, noted ...string) error {
	if err := removeScratch(scratch); err != nil {
		return fmt.Errorf("removing what an earlier run has left in %s: %w", scratch, err)
	}
	err := os.MkdirAll(scratch, 0o700)
	for _, dir := range noted {
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil {
			err = files.Replace(filepath.Join(dir, CloneNote), []byte(clone+"\n"))
		}
	}
	if err != nil {
		return fmt.Errorf("making a place for the run: %w", err)
	}
	return nil
}

// cachesDir is the directory in a clone's scratch that outlives a process: what was made in caches on a base commit.
const cachesDir = "caches"

// tasksScratch is the directory in a clone's scratch in which each task has one of its own.
const tasksScratch = "tasks"

// removeScratch removes what is in a directory for what does not outlive a process, but the caches of a base commit, and
// what is of tasks: they may be at work.
func removeScratch(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != cachesDir && e.Name() != tasksScratch {
			err = errors.Join(err, files.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Nearest is where a directory's settings are: the directory itself, or the nearest one above it in the same clone that
// has any. Outside of a clone nothing above is examined: it may be anyone's.
func Nearest(dir string) string {
	has := func(at, name string) bool {
		_, err := os.Lstat(filepath.Join(at, name))
		return err == nil
	}
	found := ""
	for at := dir; ; at = filepath.Dir(at) {
		if found == "" && (has(at, config.SettingsFile) || has(at, config.LocalSettingsFile)) {
			found = at
		}
		switch {
		case found == dir, found != "" && has(at, ".git"):
			return found
		case has(at, ".git"), at == filepath.Dir(at):
			return dir
		}
	}
}

// RunHomes are the directories whose runs are searched for: where a prompt's runs are, and where those of issues are. In
// the checkout of a run it is the clone.
func (s *Session) RunHomes(ctx context.Context) []string {
	if clone := s.cloneOf(s.Dir); clone != "" {
		return []string{clone}
	}
	homes := []string{Nearest(s.Dir)}
	if top, err := git.Top(ctx, s.Dir, s.Parent); err == nil && !slices.Contains(homes, top) {
		homes = append(homes, top)
	}
	return homes
}
