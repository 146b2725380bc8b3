// Package supervise restarts a command until it leaves a marker, and carries messages to it.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// The markers of a task directory.
const (
	doneMarker = "DONE"
	waitMarker = "WAIT_WITHOUT_RESTART"
)

// Defaults of a supervisor.
const (
	DefaultMaxRestarts  = 100
	DefaultRestartDelay = time.Second
	DefaultWaitTimeout  = 300 * time.Second
	DefaultPollInterval = time.Second
)

// Supervisor runs a command again and again until its task directory holds the DONE marker. It checks nothing and knows
// no git.
type Supervisor struct {
	Argv    []string // the command: its program, by path or PATH, and its arguments
	Dir     string   // the current directory, where the command runs
	TaskDir string   // relative to Dir, or absolute; empty is Dir
	Parent  []string // our environment
	// Self is the file of this program: a command that is ralph itself is understood by its exit codes. Empty: none is.
	Self     string
	Out, Err io.Writer // the command's own output, and on Out the log
	Clock    func() time.Time

	MaxRestarts  int           // how many attempts there may be
	RestartDelay time.Duration // between two attempts
	WaitTimeout  time.Duration // how long registered children may take once the task is done
	PollInterval time.Duration // between two looks at the children, and at the markers during the delay
	Timeout      time.Duration // of one attempt; 0: none
	Grace        time.Duration // between TERM and KILL; 0 is proc.DefaultGrace
}

// Run takes the command to an outcome. When ctx is done nothing new is started, and what runs may come to its end; when
// hard is done, it is ended. Nothing that was started is left when Run returns, registered children included. The error
// is for the person who started it; it is nil for outcomes that the log has told.
func (s *Supervisor) Run(ctx, hard context.Context) (outcome loop.Outcome, err error) {
	w, err := s.open()
	if err != nil {
		return loop.Invalid, err
	}
	unlock, err := journal.LockSupervisor(w.dir)
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return loop.Failed, err
	case err != nil:
		return loop.Invalid, fmt.Errorf("%w; the task directory must be ours to write to", err)
	}
	defer unlock()
	defer w.registerSelf()()
	defer w.end()
	if err := w.begin(); err != nil {
		return loop.Invalid, err
	}
	for {
		known := w.look(ctx, hard)
		step := known.next()
		w.logAttempt(step)
		switch step.Do {
		case startAttempt:
			w.attempt(hard)
		case waitDelay:
			w.pause(ctx, known.DelayLeft)
		case waitChildren:
			w.accept()
			w.await(hard, known) // waiting for what runs is no new start
		case stopAll:
			return w.finish(step)
		}
	}
}

// Valid says what is wrong with the settings, one sentence.
func (s *Supervisor) Valid() error {
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return invalid.Errorf("no command is named: ralph supervise [flags] -- COMMAND…")
	case s.MaxRestarts < 0:
		return invalid.Errorf(
			"invalid --max-restarts \"%d\": must be a whole number from 0, such as 10", s.MaxRestarts,
		)
	case s.RestartDelay < 0:
		return invalid.Errorf("invalid --restart-delay %q: must be a duration of at least 0s, such as 5s", s.RestartDelay)
	case s.WaitTimeout <= 0:
		return invalid.Errorf("invalid --wait-timeout %q: must be longer than 0s, such as 5m", s.WaitTimeout)
	case s.PollInterval <= 0:
		return invalid.Errorf("invalid --poll-interval %q: must be longer than 0s, such as 1s", s.PollInterval)
	case s.Timeout < 0:
		return invalid.Errorf("invalid --timeout %q: must be longer than 0s, or 0s for no limit", s.Timeout)
	}
	return nil
}

// supervision is one Run of a Supervisor.
type supervision struct {
	*Supervisor
	dir     string // the task directory, absolute
	console *console
	signals *signals

	attempts int
	fresh    bool      // the last attempt has not been decided upon
	last     ending    // of that attempt
	ran      bool      // there was one
	told     bool      // the log says how it ended
	next     time.Time // when the delay after it is over
	accepted bool      // DONE has been seen and children are waited for
	patience time.Time // until when
	spared   bool      // an attempt has left registered children
	outlived []int     // those of the last attempt that ended by itself, and of attempts before
	warned   bool      // of a bus that cannot be written
	rested   bool      // memory has been given back since the last attempt
}

func (s *Supervisor) open() (*supervision, error) {
	if err := s.Valid(); err != nil {
		return nil, err
	}
	dir := s.TaskDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Dir, dir)
	}
	if err := taskDirectory(dir); err != nil {
		return nil, err
	}
	return &supervision{
		Supervisor: s, dir: dir, console: &console{out: s.Out, clock: s.Clock}, signals: &signals{dir: dir},
	}, nil
}

// taskDirectory says what is wrong with a task directory.
func taskDirectory(dir string) error {
	info, err := os.Stat(dir) // the user names it
	switch {
	case err != nil:
		return invalid.Errorf(
			"the task directory cannot be used: %w; make it, or name another one with --task-dir", err,
		)
	case !info.IsDir():
		return invalid.Errorf("the task directory %s is not a directory; name one with --task-dir", dir)
	}
	return nil
}

// begin takes away the marker that an earlier run left: to start again is the answer that it waited for.
func (w *supervision) begin() error {
	_ = proc.HideSelf()
	err := os.Remove(filepath.Join(w.dir, waitMarker))
	switch {
	case err == nil:
		w.console.log("%s of an earlier run is removed", waitMarker)
	case !errors.Is(err, os.ErrNotExist):
		return invalid.Errorf("taking away the marker of an earlier run: %w; remove it", err)
	}
	if err := w.signals.begin(); err != nil {
		return invalid.Mark(err)
	}
	w.post("started", "at most %d attempts, %s between them", w.MaxRestarts, w.RestartDelay)
	return nil
}

// look finds out how things stand.
func (w *supervision) look(ctx, hard context.Context) status {
	now := w.Clock()
	s := status{
		Attempts: w.attempts, Max: w.MaxRestarts, Fresh: w.fresh,
		Cancelled: ctx.Err() != nil && !w.accepted, Killed: hard.Err() != nil, DelayLeft: w.next.Sub(now),
	}
	w.fresh = false
	var err error
	if s.Done, err = w.done(); s.Done {
		s.Children, s.Patience, err = w.children(now)
	} else if err == nil {
		w.accepted = false // perhaps someone took the marker away
		err = w.readMessages(&s)
	}
	if err != nil {
		s.Fault = err.Error()
	}
	return s
}

// readMessages adds what the last attempt, and anyone since it began, asks for.
func (w *supervision) readMessages(s *status) error {
	if w.ran {
		s.Waiting, s.Fatal, s.Broken = w.last.waiting(), w.last.fatal(), w.last.broken()
	}
	asked, fatal, err := w.signals.look()
	s.Waiting, s.Fatal = firstOf(s.Waiting, asked), firstOf(s.Fatal, fatal)
	return err
}

// done reports whether the marker is there; what it holds does not matter.
func (w *supervision) done() (bool, error) {
	path := filepath.Join(w.dir, doneMarker)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, invalid.Errorf("looking for the %s marker: %w; make it readable, or remove it", doneMarker, err)
	case info.IsDir():
		return false, invalid.Errorf(
			"DONE is a directory: remove %s; the marker of a finished task is a file of that name", path,
		)
	}
	return true, nil
}

// await waits for the next look at registered children.
func (w *supervision) await(hard context.Context, known status) {
	defer loop.BeginStep(
		hard, safetext.Counted(known.Children, "registered run", "registered runs"), known.Patience,
	)()
	w.pause(hard, known.Patience)
}

// pause waits for the next look: a poll interval, or less when less is left, or until ctx is done. Before a long wait
// memory is given back.
func (w *supervision) pause(ctx context.Context, left time.Duration) {
	if left > time.Second && !w.rested {
		proc.FreeMemory()
		w.rested = true
	}
	timer := time.NewTimer(min(left, w.PollInterval))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

const logTime = "2006-01-02 15:04:05"
