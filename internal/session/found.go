package session

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report/status"
)

// Found is a run that was found, or the directory where none was.
type Found struct {
	Session  *Session
	Dir      string // the directory that the run guards
	Run      string // the run's own; empty without a run
	Follower *journal.Follower
	Why      string     // why there is no run
	State    loop.State // of the run, as Status has read it last
}

// Status says where the run is now.
func (f *Found) Status() (status.RunStatus, error) {
	if f.Run == "" {
		lock, err := f.lock("")
		return status.NoRun(f.Dir, f.Why, lock), err
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
	lock, err := f.lock(task)
	if err != nil {
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
	if engine.Exists(filepath.Join(f.Run, engine.StateFile)) && st.State != "done" {
		st.StateFile = filepath.Join(st.RunDir, engine.StateFile)
	}
	return st, nil
}

// WorkDir is where the run's agent works: the checkout of its task, or for a prompt the directory. It is called after
// Status.
func (f *Found) WorkDir() (string, error) {
	task := f.State.Start.Task
	switch {
	case f.Run == "":
		return "", invalid.Errorf("%s", f.Why)
	case f.State.Start.Branch == "":
		return f.Dir, nil
	}
	in := *f.Session
	in.Dir = f.Dir
	at, err := in.Checkout(task)
	if err == nil && !at.Exists() {
		err = invalid.Errorf("the checkout of %s is removed; its work is on %s", task, f.State.Start.Branch)
	}
	return at.Dir(), err
}

// lock is who works on a task, or with "" on a prompt.
func (f *Found) lock(task string) (status.Lock, error) {
	owner, err := f.Session.Holder(f.Dir, task)
	if err != nil {
		return status.Lock{}, invalid.Errorf("%w", err)
	}
	return status.Lock{PID: owner.PID, Alive: owner.Alive && owner.Holds}, nil
}

const (
	progressFile  = "progress.json" // in the run's directory, while a process works on the run
	progressEvery = 250 * time.Millisecond
	maxProgress   = 64 << 10
)

// writeProgress writes what the tracker of ctx knows to the run's directory whenever it changes, for ralph watch, until
// stop is called. The file has no secrets and is bounded.
func (s *Session) writeProgress(ctx context.Context, dir string) (stop func()) {
	steps := loop.StepsOf(ctx)
	if steps == nil {
		return func() {}
	}
	file, began, done, ended := filepath.Join(dir, progressFile), s.Clock(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for shown := []byte(nil); ; {
			p := steps.Progress()
			p.Began = began
			text, err := json.Marshal(p)
			if text = []byte(s.Redact(string(text))); err == nil && len(text) < maxProgress && !bytes.Equal(text, shown) &&
				files.Replace(file, text) == nil {
				shown = text
			}
			select {
			case <-done:
				if root, err := os.OpenRoot(dir); err == nil {
					_ = root.Remove(progressFile)
					_ = root.Close()
				}
				return
			case <-time.After(progressEvery):
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Progress returns what the process of the run says; known is false if it says nothing.
func (f *Found) Progress() (p loop.Progress, known bool) {
	text, err := files.Read(filepath.Join(f.Run, progressFile))
	return p, err == nil && json.Unmarshal(text, &p) == nil
}

// Record prepares a run of this process: a supervisor above waits for it, ralph watch sees its progress, and its records
// are followed.
func (s *Session) Record(ctx context.Context, work *engine.Run, run string) (*engine.Journal, error) {
	leave, err := journal.Register(proc.Value(s.Parent, journal.SupervisorDir))
	if err != nil {
		return nil, err
	}
	work.OnClose(leave)
	work.OnClose(s.writeProgress(ctx, s.RunDir(run)))
	return &engine.Journal{Clock: s.Clock, Redact: s.Redact, Stored: s.Stored}, nil
}
