package agent

import (
	"cmp"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Recording is what the process of an agent has left.
type Recording struct {
	Stdout io.Reader
	Stderr io.Reader // nil is nothing
	Exit   int       // its exit code; below 0 the number of the signal that ended it: -9
	Prompt string    // what it was asked; "" is not known
	Idle   bool      // it was stopped, since it printed nothing more
}

// Replay tells the turn that a recording is of, and shows it as it was shown when it was taken. Of the options, those
// count that say what the agent is, what claims, and how to show it. The agent need not be installed when ralph knows
// it; the error is an *UnknownError when there is no such agent.
func Replay(o Options, r Recording) (loop.Turn, error) {
	d, known := dialectOf(o.Command)
	a := &Agent{options: o, dialect: d, program: o.Command}
	if !known && o.Command != "command" {
		if _, err := resolve(o, o.Parent); err != nil {
			return loop.Turn{}, &UnknownError{o.Command, err}
		}
	}
	t := a.talk(r.Prompt)
	defer t.console.close()
	reader, stderr := newReader(t, a.dialect), proc.NewTail(2<<10, 14<<10)
	if _, err := io.Copy(reader, r.Stdout); err != nil {
		return loop.Turn{}, fmt.Errorf("reading what the agent printed: %w", err)
	}
	if r.Stderr != nil {
		errs, listened := a.listen(reader, []io.Writer{stderr, t.console.stderr()})
		if _, err := io.Copy(io.MultiWriter(errs...), r.Stderr); err != nil {
			return loop.Turn{}, fmt.Errorf("reading what the agent printed on standard error: %w", err)
		}
		listened()
	}
	end := proc.Result{Class: proc.Exited, Exit: r.Exit}
	if r.Idle {
		end = proc.Result{Class: proc.Idle, Exit: -1}
	} else if r.Exit < 0 {
		end = proc.Result{Class: proc.Signalled, Exit: -1,
			Signal: cmp.Or(signals[-r.Exit], fmt.Sprintf("signal %d", -r.Exit))}
	}
	turn := a.concluded(reader, end, stderr.String())
	t.console.done(turn)
	return turn, nil
}

// signals are the names of those that end an agent, the same on every system that has them.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV",
	13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}
