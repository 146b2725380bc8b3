package session

import (
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/status"
)

// Found is a run that was found, or the directory where none was.
type Found struct {
	Session  *Session
	Dir      string // the directory that the run guards
	Run      string // the run's own; empty: there is none
	Follower *journal.Follower
	Why      string     // there is none
	State    loop.State // of the run, as Status has read it last
}

// Status says where the run is now.
func (f *Found) Status() (status.RunStatus, error) {
	lock, err := f.lock("")
	if err != nil {
		return status.RunStatus{}, err
	}
	if f.Run == "" {
		return status.NoRun(f.Dir, f.Why, lock), nil
	}
	state, _, err := f.Follower.Next()
	if err != nil {
		return status.RunStatus{}, invalid.Errorf("%w", err)
	}
	f.State = state
	task := state.Start.Task
	if state.Start.Branch == "" { // a prompt's
		task = ""
	}
	if lock, err = f.lock(task); err != nil {
		return status.RunStatus{}, err
	}
	st := status.NewRunStatus(f.Session.View(state), lock)
	st.Directory = f.Dir
	if st.RunDir, err = filepath.Rel(f.Dir, f.Run); err != nil {
		st.RunDir = f.Run
	}
	if st.Branch == "" { // of a prompt
		return st, nil
	}
	if at, err := f.checkout(st.Task); err == nil && at.Exists() {
		st.Checkout = at.Dir()
	}
	if _, err := os.Lstat(filepath.Join(f.Run, engine.StateFile)); err == nil && st.State != "done" {
		st.StateFile = filepath.Join(st.RunDir, engine.StateFile)
	}
	return st, nil
}

func (f *Found) checkout(task string) (Checkout, error) {
	in := *f.Session
	in.Dir = f.Dir
	return in.Checkout(task)
}

// lock is who works on a task, or with "" on a prompt.
func (f *Found) lock(task string) (status.Lock, error) {
	owner, err := f.Session.Holder(f.Dir, task)
	if err != nil {
		return status.Lock{}, invalid.Errorf("%w", err)
	}
	return status.Lock{PID: owner.PID, Alive: owner.Alive && owner.Holds}, nil
}
