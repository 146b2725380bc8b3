package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// busNote is the project's own file that says what was completed.
const busNote = "PROJECT-MESSAGE-BUS.md"

// registerAbove makes this process a child of the supervisor that its environment names, when it names one.
func registerAbove(parent []string) (release func(), err error) {
	dir := proc.Value(parent, journal.SupervisorDir)
	if dir == "" {
		return func() {}, nil
	}
	return journal.Register(dir)
}

// registerSelf makes a supervisor within another one outlive the attempt that started it.
func (w *supervision) registerSelf() (release func()) {
	release, err := registerAbove(w.Parent)
	if err != nil {
		w.console.log("WARNING: %v; it will not wait for this one", err)
		return func() {}
	}
	return release
}

// children counts who is registered, and says how long they may still take.
func (w *supervision) children(now time.Time) (count int, patience time.Duration, err error) {
	pids, err := journal.Children(w.dir)
	if w.accepted {
		return len(pids), w.patience.Sub(now), err
	}
	return len(pids), w.WaitTimeout, err
}

// accept takes DONE for the word that counts, and begins to wait for children.
func (w *supervision) accept() {
	if w.accepted {
		return
	}
	w.accepted, w.patience = true, w.Clock().Add(w.WaitTimeout)
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

// registered are the children that outlive an attempt. When they cannot be told, nothing does.
func (w *supervision) registered() []int {
	pids, err := journal.Children(w.dir)
	if err != nil {
		w.console.log("WARNING: %v", err)
	}
	return pids
}

// end ends every registered child with everything that came of it, and what those left that have crashed. One that
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
	switch step.Outcome {
	case loop.Done:
		w.console.log("%s", step.Reason)
		w.post("ended", "completed: %s", step.Reason)
		w.note(step.Reason)
		return loop.Done, nil
	case loop.Waiting:
		w.console.log("%s", step.Reason)
		w.post("ended", "stopped: %s", step.Reason)
		return loop.Waiting, nil
	case loop.Invalid:
		if !w.ran || w.last.fatal() == "" { // else the attempt's own lines have said it
			w.console.log("Fatal error: %s", step.Reason)
		}
		w.post("ERROR", "Fatal error: %s", step.Reason)
	case loop.Interrupted:
		w.console.log("%s", step.Reason)
		w.post("ended", "%s", step.Reason)
		return loop.Interrupted, nil
	default:
		w.console.log("%s", step.Reason)
		w.post("ERROR", "%s", step.Reason)
	}
	w.post("ended", "failed: %s", step.Reason)
	return step.Outcome, errors.New(safetext.Inert(step.Reason))
}

// post says something on the bus. A bus that cannot be written is told of once and stops nothing.
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
