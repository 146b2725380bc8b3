package session

import (
	"context"
	"crypto/sha256"
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
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Lock takes the directory for this process, until unlock is called. unlock is never nil.
func (s *Session) Lock() (unlock func(), err error) {
	left, _ := journal.LockOwner(s.Dir) // what is in the way of an answer is in the way of the lock
	unlock, err = journal.Lock(s.Dir, s.Log)
	if err != nil {
		return func() {}, err
	}
	s.Killed = left.PID != 0 // a process that ends normally releases its lock
	s.Clear()
	return unlock, nil
}

// Clear removes what processes that were killed have left, once no one else is in the directory.
func (s *Session) Clear() {
	proc.ClearTemp("")
	scratch := s.Places().Scratch
	s.endLeft(s.Dir, scratch)
	_ = removeScratch(scratch) // an error is reported when the place is needed
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

// CloneNote is a file in each of them that names the clone that the directory is for.
const CloneNote = "clone"

// Places finds them. Where the user has no such directories, or they lie in the clone, they are in its .git.
func (s *Session) Places() places { return s.placesOn(runtime.GOOS) }

func (s *Session) placesOn(system string) places {
	dir := realPath(s.Dir)
	name := filepath.Join("ralph", "clones", fmt.Sprintf("%.8x", sha256.Sum256([]byte(dir))))
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
		return filepath.Clean(From(top, to))
	}
	return git
}

// clearPlaces removes what a process that died has left in the scratch of a clone's run, and makes it. The directories
// that are given besides say what clone they are for. The caller keeps others out of the scratch.
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

// From is the path that a person names, as seen from a directory.
func From(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// ReadNamed reads the plain file that a person names, as seen from a directory.
func ReadNamed(dir, name string) ([]byte, error) {
	text, err := files.Read(From(dir, name))
	if err == nil && len(text) == files.Max {
		err = fmt.Errorf("%s must be smaller than %d bytes", name, files.Max)
	}
	return text, err
}

// Nearest is where a directory's settings are: the directory itself, or the nearest one above it in the same clone that
// has any. Outside of a clone nothing above is examined: it may be anyone's.
func Nearest(dir string) string {
	has := func(at, name string) bool { return engine.Exists(filepath.Join(at, name)) }
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
	if top, _, err := git.Stand(ctx, s.Dir, s.Parent); err == nil && !slices.Contains(homes, top) {
		homes = append(homes, top)
	}
	return homes
}

// Checkout is where the run of a task works, beside the clone. The records of its runs are in the clone, with those of
// all others.
type Checkout struct {
	Task    string
	Root    string // what git.CheckoutOf is given; outlives the process
	Scratch string // what does not
	// Caches is what outlives the run: caches of a base commit. They are the clone's, unless another run has these.
	Caches string
}

// Dir is the working tree.
func (c Checkout) Dir() string { return filepath.Join(c.Root, "work") }

// Exists reports whether a run has left it there.
func (c Checkout) Exists() bool { return engine.Exists(c.Root) }

// Remove removes what is in Scratch.
func (c Checkout) Remove() error { return files.RemoveAll(c.Scratch) }

// Checkout is that of a task of the clone at Dir, whether or not it is there.
func (s *Session) Checkout(task string) (Checkout, error) {
	if _, err := s.Seal(""); err != nil {
		return Checkout{}, invalid.Errorf("there is no place for a checkout beside the clone: %w; set XDG_STATE_HOME to a "+
			"directory elsewhere", err)
	}
	return Checkout{Task: task, Root: filepath.Join(s.checkouts(), task),
		Scratch: filepath.Join(s.Places().Scratch, tasksScratch, task)}, nil
}

// checkouts is where they lie, without links: tools compare paths.
func (s *Session) checkouts() string {
	return filepath.Join(realPath(s.Places().State), "checkouts")
}

// cloneOf returns the clone whose checkout dir is in; "" if dir is in none.
func (s *Session) cloneOf(dir string) string {
	for at := realPath(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		all := filepath.Dir(filepath.Dir(at)) // <state>/checkouts/<task>/work
		note, err := files.Read(filepath.Join(filepath.Dir(all), CloneNote))
		in := *s
		if in.Dir = strings.TrimSpace(string(note)); err == nil && filepath.IsAbs(in.Dir) && in.checkouts() == all {
			return in.Dir
		}
	}
	return ""
}

// RefuseCheckout returns an error if the session is in the checkout of a run.
func (s *Session) RefuseCheckout() error {
	if clone := s.cloneOf(s.Dir); clone != "" {
		return invalid.Errorf("this directory is the checkout of a run, where its agent works; run ralph in your clone: cd %s",
			wording.ShellWord(clone))
	}
	return nil
}

// Checkouts are the tasks that have one beside the clone at Dir.
func (s *Session) Checkouts() (tasks []string) {
	entries, _ := os.ReadDir(s.checkouts()) // no directory, no tasks
	for _, e := range entries {
		if e.IsDir() {
			tasks = append(tasks, e.Name())
		}
	}
	return tasks
}

// LockTask keeps every other run of a task away, and clears up after one that was killed.
func (s *Session) LockTask(task string) (c Checkout, unlock func(), err error) {
	if c, err = s.Checkout(task); err != nil {
		return c, func() {}, err
	}
	left, _ := journal.OwnerIn(s.tasksAtWork(), task) // what is in the way of an answer is in the way of the lock
	if unlock, err = s.HoldTask(task); err != nil {
		return c, func() {}, err
	}
	s.Killed = left.PID != 0 // a process that ends normally removes its lock
	c.Caches = filepath.Join(c.Scratch, cachesDir)
	if free, err := journal.LockIn(s.Places().State, "caches", s.Explain); err == nil {
		c.Caches = filepath.Join(s.Places().Scratch, cachesDir)
		release := unlock
		unlock = func() { free(); release() }
	}
	proc.ClearTemp("")
	s.endLeft(c.Dir(), c.Scratch)
	err = clearPlaces(s.Places().Clone, c.Scratch, s.Places().State, s.Places().Scratch)
	return c, unlock, err
}

// HoldTask keeps every run of a task away, and does nothing else.
func (s *Session) HoldTask(task string) (unlock func(), err error) {
	return journal.LockIn(s.tasksAtWork(), task, s.Log)
}

func (s *Session) tasksAtWork() string { return filepath.Join(s.Places().State, "at-work") }

// TasksAtWork are the tasks that a process works on in the clone at Dir.
func (s *Session) TasksAtWork() (tasks []string) {
	entries, _ := os.ReadDir(s.tasksAtWork()) // no directory, no tasks
	for _, e := range entries {
		if o, err := journal.OwnerIn(s.tasksAtWork(), e.Name()); err == nil && o.PID != 0 && (o.Alive || o.Elsewhere) {
			tasks = append(tasks, e.Name())
		}
	}
	return tasks
}

// Holder is who works on a task of the clone at dir, or with "" on a prompt there.
func (s *Session) Holder(dir, task string) (journal.Owner, error) {
	if task == "" {
		return journal.LockOwner(dir)
	}
	in := *s
	in.Dir = dir
	return journal.OwnerIn(in.tasksAtWork(), task)
}
