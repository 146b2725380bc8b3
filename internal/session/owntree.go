package session

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Runs can work in trees of their own beside the clone, one a task. They lie in the place that is kept for the clone,
// outside of it; the records of their runs are in the clone, with those of all others.

// TreeOf is the working tree that a run of a task has beside the clone at Dir, whether or not it is there.
func (s *Session) TreeOf(task string) (git.Linked, error) {
	if _, err := SealFile(runtime.GOOS, s.Parent, s.Dir, ""); err != nil {
		return git.Linked{}, invalid.Errorf("there is no place for a working tree beside the clone: %w; set XDG_STATE_HOME "+
			"to a directory elsewhere", err)
	}
	at := s.treesDir()
	return git.Linked{Clone: s.Dir, Dir: filepath.Join(at, task), Note: filepath.Join(s.Places().State, "tree-of-"+task),
		Env: s.Parent}, nil
}

// treesDir is where they lie, without links: git names its working trees so.
func (s *Session) treesDir() string {
	state := s.Places().State
	if real, err := filepath.EvalSymlinks(state); err == nil {
		state = real
	}
	return filepath.Join(state, "trees")
}

// Trees are the tasks that have a working tree of their own beside the clone at Dir.
func (s *Session) Trees() (tasks []string) {
	entries, _ := os.ReadDir(s.treesDir()) // none: there are none
	for _, e := range entries {
		if e.IsDir() {
			tasks = append(tasks, e.Name())
		}
	}
	return tasks
}

// LockTask keeps every other run of a task away, wherever it works: their records are one.
func (s *Session) LockTask(task string) (unlock func(), err error) {
	return journal.LockIn(filepath.Join(s.Places().State, "at-work"), task)
}

// Tips is where the runs of the clone at Dir note what they move.
func (s *Session) Tips() string { return filepath.Join(s.Places().State, "tips") }

// Holder is who has the place in which the newest run of a task works: its own tree where it has one, else the
// directory.
func (s *Session) Holder(dir, task string) (journal.Owner, error) {
	in := *s
	in.Dir = dir
	if tree, err := in.TreeOf(task); err == nil && task != "" && tree.Exists() {
		if o, err := journal.LockOwner(tree.Dir); err != nil || o.PID != 0 {
			return o, err
		}
	}
	return journal.LockOwner(dir)
}
