package session

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

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
func (c Checkout) Exists() bool {
	_, err := os.Lstat(c.Root)
	return err == nil
}

// Remove removes what is in Scratch.
func (c Checkout) Remove() error { return files.RemoveAll(c.Scratch) }

// Checkout is that of a task of the clone at Dir, whether or not it is there.
func (s *Session) Checkout(task string) (Checkout, error) {
	if _, err := SealFile(runtime.GOOS, s.Parent, s.Dir, ""); err != nil {
		return Checkout{}, invalid.Errorf("there is no place for a checkout beside the clone: %w; set XDG_STATE_HOME to a "+
			"directory elsewhere", err)
	}
	return Checkout{Task: task, Root: filepath.Join(s.checkouts(), task),
		Scratch: filepath.Join(s.Places().Scratch, tasksScratch, task)}, nil
}

// checkouts is where they lie, without links: tools compare paths.
func (s *Session) checkouts() string {
	state := s.Places().State
	if real, err := filepath.EvalSymlinks(state); err == nil {
		state = real
	}
	return filepath.Join(state, "checkouts")
}

// cloneOf returns the clone whose checkout dir is in; "" if dir is in none.
func (s *Session) cloneOf(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
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
