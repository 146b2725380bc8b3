// Package supervise restarts a command until it leaves a marker, and carries messages to it.
package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
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

// Run takes the command to an outcome. When ctx is done nothing new is started, and what runs may finish; when hard is
// done, it is ended. Nothing that was started is left when Run returns, registered children included. The error is for
// the person who started it; it is nil for outcomes that the log has told.
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
	patience time.Time // until when ralph waits for children since it saw DONE; zero: it has not
	spared   bool      // an attempt has left registered children
	outlived []int     // those of the last attempt that ended by itself, and of attempts before
	warned   bool      // of a bus that cannot be written
	rested   bool      // memory has been given back since the last attempt
}

func (s *Supervisor) open() (*supervision, error) {
	if err := s.Valid(); err != nil {
		return nil, err
	}
	dir, err := taskDirectory(s.Dir, s.TaskDir)
	if err != nil {
		return nil, err
	}
	return &supervision{
		Supervisor: s, dir: dir, console: &console{out: s.Out, clock: s.Clock}, signals: &signals{dir: dir},
	}, nil
}

// taskDirectory is a task directory, absolute, that exists.
func taskDirectory(from, name string) (dir string, err error) {
	if dir = name; !filepath.IsAbs(dir) {
		dir = filepath.Join(from, dir)
	}
	info, err := os.Stat(dir) // the user names it
	switch {
	case err != nil:
		return dir, invalid.Errorf("the task directory cannot be used: %w; make it, or name another one with --task-dir", err)
	case !info.IsDir():
		return dir, invalid.Errorf("the task directory %s is not a directory; name one with --task-dir", dir)
	}
	return dir, nil
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
		Canceled: ctx.Err() != nil && w.patience.IsZero(), Killed: hard.Err() != nil, DelayLeft: w.next.Sub(now),
	}
	w.fresh = false
	var err error
	if s.Done, err = w.done(); s.Done {
		s.Children, s.Patience, err = w.children(now)
	} else if err == nil {
		w.patience = time.Time{} // perhaps someone took the marker away
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
	s.Waiting, s.Fatal = cmp.Or(s.Waiting, asked), cmp.Or(s.Fatal, fatal)
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

// attempt runs the command once. It is ended with everything it has started, registered children too, when hard is done
// or its time is over; when it ends by itself, registered children live on and everything else it left is ended.
func (w *supervision) attempt(hard context.Context) {
	n := w.attempts + 1
	w.console.log("Starting agent (attempt %d/%d)", n, w.MaxRestarts)
	w.post("attempt", "attempt %d of %d begins", n, w.MaxRestarts)
	w.last = ending{Program: w.Argv[0]}
	if err := w.signals.begin(); err != nil {
		w.last.Err = err
	} else {
		w.run(hard, n)
	}
	w.attempts, w.fresh, w.ran, w.told, w.rested, w.next = n, true, true, false, false, w.Clock().Add(w.RestartDelay)
	w.post("attempt", "attempt %d of %d ended: %s", n, w.MaxRestarts, w.last.how())
}

func (w *supervision) run(hard context.Context, n int) {
	log, err := newAttemptLog(w.dir, n)
	if err != nil {
		w.last.Err = err
		return
	}
	defer log.Close()
	ctx, stop := w.limited(hard)
	defer stop()
	defer w.endWith(hard)()
	defer loop.BeginStep(hard, fmt.Sprintf("attempt %d of %d", n, w.MaxRestarts), w.Timeout)()
	env := w.environment(n - 1)
	spec := proc.Spec{
		Argv: w.Argv, Dir: w.Dir, Env: env, Ending: proc.Ending{Grace: w.Grace, Spare: func() []int {
			w.outlived = w.registered()
			w.spared = w.spared || len(w.outlived) > 0
			return w.outlived
		}},
		Stdout: io.MultiWriter(log, w.console), Stderr: io.MultiWriter(log, w.Err),
	}
	if sameFile(w.Out, w.Err) { // one stream keeps the order in which the command wrote
		spec.Stderr = spec.Stdout
	}
	w.last.Ours = w.isSelf(env)
	w.last.Result, w.last.Err = proc.Run(ctx, spec)
	if w.spared {
		proc.End(nil, w.Grace) // what registered children have left that crashed meanwhile
	}
	if w.last.Class == proc.Canceled && hard.Err() == nil {
		w.last.After = w.Timeout
	}
}

// limited is the time of one attempt. The log says that it is over before anything is ended.
func (w *supervision) limited(hard context.Context) (context.Context, func()) {
	if w.Timeout == 0 {
		return hard, func() {}
	}
	ctx, cancel := context.WithTimeout(hard, w.Timeout)
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(told)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && hard.Err() == nil {
			w.console.log("Agent timeout after %s, killing process group", w.Timeout)
		}
	})
	return ctx, func() {
		if !forget() {
			<-told
		}
		cancel()
	}
}

// isSelf reports whether the command is this program.
func (w *supervision) isSelf(env []string) bool {
	name := w.Argv[0]
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(w.Dir, name)
	}
	path, err := proc.LookPath(name, env)
	if err != nil || w.Self == "" {
		return false
	}
	command, err := os.Stat(path)
	if err != nil {
		return false
	}
	self, err := os.Stat(w.Self)
	return err == nil && os.SameFile(command, self)
}

// withheld are the first letters of variables that the command does not get: what opens GitHub, and what the runner tells
// an action. The rest is the user's own environment, with the keys that his agent needs.
var withheld = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN", "ACTIONS_", "INPUT_",
}

// environment is the whole environment of an attempt, counted from 0.
func (w *supervision) environment(attempt int) []string {
	env := slices.DeleteFunc(slices.Clone(w.Parent), func(entry string) bool {
		return slices.ContainsFunc(withheld, func(name string) bool { return strings.HasPrefix(strings.ToUpper(entry), name) })
	})
	return append(env, "TASK_FOLDER="+w.dir, fmt.Sprintf("RALPH_ATTEMPT=%d", attempt), journal.SupervisorDir+"="+w.dir)
}

// sameFile reports whether two writers are the same open file or terminal.
func sameFile(a, b io.Writer) bool {
	fa, ok := a.(*os.File)
	fb, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	ia, errA := fa.Stat()
	ib, errB := fb.Stat()
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// busNote is the project's own file that says what was completed.
const busNote = "PROJECT-MESSAGE-BUS.md"

// registerSelf makes a supervisor within another one outlive the attempt that started it.
func (w *supervision) registerSelf() (release func()) {
	release, err := journal.Register(proc.Value(w.Parent, journal.SupervisorDir))
	if err != nil {
		w.console.log("WARNING: %v; it will not wait for this one", err)
		return func() {}
	}
	return release
}

// children counts who is registered, and says how long they may still take.
func (w *supervision) children(now time.Time) (count int, patience time.Duration, err error) {
	pids, err := journal.Children(w.dir)
	if !w.patience.IsZero() {
		return len(pids), w.patience.Sub(now), err
	}
	return len(pids), w.WaitTimeout, err
}

// accept takes DONE for the word that counts, and begins to wait for children.
func (w *supervision) accept() {
	if !w.patience.IsZero() {
		return
	}
	w.patience = w.Clock().Add(w.WaitTimeout)
	if pids := w.registered(); len(pids) > 0 {
		w.console.log("DONE marker present, waiting at most %s for %s", w.WaitTimeout, childrenNamed(pids))
	}
}

func childrenNamed(pids []int) string {
	if len(pids) == 1 {
		return fmt.Sprintf("1 active child (process %d)", pids[0])
	}
	return fmt.Sprintf("%d active children (processes %v)", len(pids), pids)
}

// registered are the children that outlive an attempt. When they cannot be read, nothing does.
func (w *supervision) registered() []int {
	pids, err := journal.Children(w.dir)
	if err != nil {
		w.console.log("WARNING: %v", err)
	}
	return pids
}

// end ends every registered child with everything that it started, and what those left that have crashed. One that
// registers meanwhile is ended too.
func (w *supervision) end() {
	pids := w.registered()
	for try := 0; try < 3 && (try == 0 || len(pids) > 0); try++ {
		if len(pids) > 0 {
			w.console.log("Ending %s", childrenNamed(pids))
		}
		proc.End(pids, w.Grace)
		pids = w.registered()
	}
	if len(pids) > 0 {
		w.console.log("WARNING: still there after being killed: %s", childrenNamed(pids))
	}
}

// endWith ends the registered children of earlier attempts as soon as hard is done: while the attempt that runs is
// being stopped, so that all have the same few seconds. Those of this attempt are asked with it: twice would be a
// second signal. The returned function waits for the end.
func (w *supervision) endWith(hard context.Context) (wait func()) {
	ended, earlier := make(chan struct{}), w.outlived
	forget := context.AfterFunc(hard, func() {
		defer close(ended)
		pids := slices.DeleteFunc(w.registered(), func(pid int) bool { return !slices.Contains(earlier, pid) })
		if len(pids) > 0 {
			w.console.log("Ending %s", childrenNamed(pids))
			proc.End(pids, w.Grace)
		}
	})
	return func() {
		if !forget() {
			<-ended
		}
	}
}

// logAttempt logs how the last attempt ended, once it is known what comes next.
func (w *supervision) logAttempt(step superviseStep) {
	if !w.ran || w.told {
		return
	}
	w.told = true
	another := (step.Do == waitDelay || step.Do == startAttempt) && w.attempts < w.MaxRestarts
	for _, line := range w.last.lines(w.attempts, w.MaxRestarts, another) {
		w.console.log("%s", line)
	}
}

// finish ends what is left and says how it went: to the log, to the bus and, when the task is done, to the project.
func (w *supervision) finish(step superviseStep) (loop.Outcome, error) {
	w.end()
	said := step.Reason
	if step.Outcome == loop.Invalid {
		said = "Fatal error: " + said
	}
	if step.Outcome != loop.Invalid || !w.ran || w.last.fatal() == "" { // otherwise the attempt's own lines have said it
		w.console.log("%s", said)
	}
	if how, ok := map[loop.Outcome]string{loop.Done: "completed: ", loop.Waiting: "stopped: ", loop.Interrupted: ""}[step.Outcome]; ok {
		w.post("ended", "%s%s", how, said)
		if step.Outcome == loop.Done {
			w.note(said)
		}
		return step.Outcome, nil
	}
	w.post("ERROR", "%s", said)
	w.post("ended", "failed: %s", step.Reason)
	return step.Outcome, errors.New(safetext.Inert(step.Reason))
}

// post says something on the bus. An unwritable bus is reported once and stops nothing.
func (w *supervision) post(kind, format string, args ...any) {
	err := journal.Post(
		w.dir, journal.Message{At: w.Clock(), Type: kind, Text: fmt.Sprintf(format, args...), From: os.Getpid()},
	)
	if err != nil && !w.warned {
		w.warned = true
		w.console.log("WARNING: %v", err)
	}
}

// note tells the project that the task is complete, as well as it can.
func (w *supervision) note(reason string) {
	line := fmt.Sprintf("- [%s] FACT %s: %s\n", w.Clock().Format(logTime), safetext.Inert(filepath.Base(w.dir)), reason)
	if err := journal.AppendLine(w.dir, busNote, line); err != nil {
		w.console.log("WARNING: %v", err)
	}
}
