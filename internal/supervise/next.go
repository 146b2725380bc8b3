package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// The markers of a task directory.
const (
	doneMarker = "DONE"
	waitMarker = "WAIT_WITHOUT_RESTART"
)

// status is what is known when a supervisor has to decide what to do.
type status struct {
	Attempts int // how many have run
	Max      int // how many may run
	// Fresh says that an attempt has ended since the last decision: what it left is examined before a cancellation is.
	Fresh    bool
	Canceled bool // start nothing new
	Killed   bool // end what runs
	// Fault is why the state cannot be read: DONE is a directory.
	Fault   string
	Done    bool   // the DONE marker is there
	Waiting string // how someone asked to wait without a restart
	Fatal   string // why another attempt would make no difference
	Broken  string // why we cannot continue ourselves
	// Children is how many registered runs are alive; it is counted only when Done. Patience is what is left of the
	// time to wait for them.
	Children  int
	Patience  time.Duration
	DelayLeft time.Duration // what is left of the delay before the next attempt
}

// superviseDo is what a supervisor does next.
type superviseDo string

// The steps of a supervisor.
const (
	startAttempt superviseDo = "start"
	waitDelay    superviseDo = "wait for the delay"
	waitChildren superviseDo = "wait for children"
	stopAll      superviseDo = "stop"
)

// superviseStep is one decision with its reason.
type superviseStep struct {
	Do      superviseDo
	Outcome loop.Outcome // of stopAll
	Reason  string       // of stopAll; the words of the log
}

// Reasons that the texts give word by word.
const (
	reasonDone    = "task completed (DONE marker present, no active children)"
	reasonWaiting = "Wait-without-restart signal detected"
)

// next says what a supervisor does now. It reads nothing but the standing. How an attempt ended stops nothing by
// itself, exit code 0 least of all: only DONE, the limit, a cancellation, a fatal error and the signal to wait do.
func (s status) next() superviseStep {
	stop := func(o loop.Outcome, format string, args ...any) superviseStep {
		return superviseStep{stopAll, o, fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Killed:
		return stop(loop.Interrupted, "interrupted: what was running has been ended")
	case s.Canceled && !s.Fresh:
		return stop(loop.Interrupted, "interrupted: nothing new is started")
	case s.Fault != "":
		return stop(loop.Invalid, "%s", s.Fault)
	case s.Done && s.Children > 0 && s.Patience > 0:
		return superviseStep{Do: waitChildren}
	case s.Done:
		return stop(loop.Done, reasonDone)
	case s.Waiting != "":
		return stop(loop.Waiting, "%s (%s)", reasonWaiting, s.Waiting)
	case s.Fatal != "":
		return stop(loop.Invalid, "%s", s.Fatal)
	case s.Broken != "":
		return stop(loop.Failed, "%s", s.Broken)
	case s.Canceled:
		return stop(loop.Interrupted, "interrupted: nothing new is started")
	case s.DelayLeft > 0:
		return superviseStep{Do: waitDelay}
	case s.Attempts >= s.Max:
		return stop(loop.Capped, "Attempt %d: Max restarts exceeded, stopping", s.Attempts)
	}
	return superviseStep{Do: startAttempt}
}

// exitWait is the exit code that asks to wait without a restart.
const exitWait = 42

// Exit codes of ralph itself, which count when the command is ralph.
const (
	ralphInvalid = 2
	ralphWaiting = 3
)

// ending is how an attempt ended.
type ending struct {
	proc.Result
	Err     error         // the harness could not do its part
	Program string        // the command's first word, for a sentence
	Ours    bool          // the command is this program
	After   time.Duration // the time limit that it ran into; 0: none
}

// waiting says how the attempt asked to wait, "" when it did not.
func (e ending) waiting() string {
	switch {
	case e.Class == proc.Exited && e.Exit == exitWait:
		return fmt.Sprintf("exit code %d", exitWait)
	case e.Class == proc.Exited && e.Ours && e.Exit == ralphWaiting:
		return fmt.Sprintf("exit code %d of ralph", ralphWaiting)
	}
	return ""
}

// fatal says why another attempt would end the same way, "" when it might not. A shell's exit codes 126 and 127 speak
// of something that its script did, and the next attempt may do otherwise.
func (e ending) fatal() string {
	switch {
	case e.scarce():
		return ""
	case e.Class == proc.NotFound:
		return fmt.Sprintf("executable not found: %s; name a program that is on PATH, or its path", e.Program)
	case e.Class == proc.NotExecutable && e.Err == nil:
		return fmt.Sprintf(
			"permission denied: %s cannot be executed; see its mode (chmod +x) and its first line", e.Program,
		)
	case e.Class == proc.NotExecutable:
		return e.Err.Error()
	case e.Class == proc.Exited && e.Ours && e.Exit == ralphInvalid:
		return fmt.Sprintf("invalid config: ralph ended with exit code %d; fix what it says above", ralphInvalid)
	}
	return ""
}

// broken says why we cannot continue: what the command said could not be handed on.
func (e ending) broken() string {
	if e.Err == nil || e.Class == proc.NotExecutable || e.Class == proc.NotFound {
		return ""
	}
	return e.Err.Error()
}

// scarce reports that the machine had no room for a process just then.
func (e ending) scarce() bool {
	for _, passing := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(e.Err, passing) {
			return true
		}
	}
	return false
}

// how is the end in a few words: "exit code 1".
func (e ending) how() string {
	switch {
	case e.After > 0:
		return fmt.Sprintf("timeout after %s", e.After)
	case e.Class == proc.Exited:
		return fmt.Sprintf("exit code %d", e.Exit)
	case e.Class == proc.Signalled:
		return "signal " + e.Signal
	case e.Err != nil:
		return e.Err.Error()
	}
	return string(e.Class)
}

// lines are what the log says of the attempt with this number, 1-based; another one follows it, or none does.
func (e ending) lines(n, of int, another bool) []string {
	again := ""
	if another {
		again = fmt.Sprintf(", restarting (attempt %d/%d)", n+1, of)
	}
	switch {
	case e.broken() != "": // which is the reason of the end, and told there
		return nil
	case e.fatal() != "":
		return []string{"Fatal error: " + e.fatal()}
	case e.waiting() != "" || e.Class == proc.Canceled && e.After == 0:
		return []string{fmt.Sprintf("Attempt %d: Agent ended (%s)", n, e.how())}
	case e.After > 0:
		lines := []string{"Process group killed, treating as failure"}
		if another {
			lines = append(lines, fmt.Sprintf("Restarting agent (attempt %d/%d)", n+1, of))
		}
		return lines
	case e.Class == proc.Exited && e.Exit == 0 && another:
		return []string{fmt.Sprintf("Attempt %d: Agent succeeded without the DONE marker%s", n, again)}
	case e.Class == proc.Exited && e.Exit == 0:
		return []string{fmt.Sprintf("Attempt %d: Agent succeeded", n)}
	}
	return []string{
		fmt.Sprintf("WARNING: Attempt %d: Transient error: %s", n, e.how()),
		fmt.Sprintf("Agent failed with %s%s", e.how(), again),
	}
}

// What a message on the bus may ask of a supervisor, by its type.
const (
	waitMessage  = "wait_without_restart"
	fatalMessage = "fatal_error" // no attempt will make a difference: an invalid key, an invalid configuration
)

// signals are what the command, or a person, says to the supervisor beside the exit code: messages on the bus since the
// attempt began, and a marker in the task directory.
type signals struct {
	dir     string
	at      int64 // how far the bus has been read
	waiting string
	fatal   string
}

// begin forgets what was said before.
func (s *signals) begin() (err error) {
	s.waiting, s.fatal = "", ""
	s.at, err = journal.BusEnd(s.dir)
	return err
}

// look says how someone asked to wait, and why it makes no sense to continue; both empty when no one did.
func (s *signals) look() (waiting, fatal string, err error) {
	s.at, err = journal.ReadBus(s.dir, s.at, func(m journal.Message, _ []byte) error {
		switch m.Type {
		case waitMessage:
			s.waiting = "a message on the bus"
			if m.Text != "" {
				s.waiting = fmt.Sprintf("a message on the bus: %.200s", m.Text)
			}
		case fatalMessage:
			s.fatal = fmt.Sprintf("a message on the bus: %.200s", m.Text)
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	_, err = os.Stat(filepath.Join(s.dir, waitMarker))
	switch {
	case err == nil:
		return "the marker " + waitMarker, s.fatal, nil
	case errors.Is(err, os.ErrNotExist):
		return s.waiting, s.fatal, nil
	}
	return "", "", invalid.Errorf("looking for the marker %s: %w", waitMarker, err)
}
