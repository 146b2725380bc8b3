package supervise

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

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
	case e.waiting() != "" || e.Class == proc.Cancelled && e.After == 0:
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
