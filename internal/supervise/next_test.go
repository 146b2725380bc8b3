package supervise

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// TestSuperviseNext has a row for each rule of S3 and C6.
func TestSuperviseNext(t *testing.T) {
	ran := func(change func(*status)) status { // one attempt has just ended, with whatever exit code
		s := status{Attempts: 1, Max: 3, Fresh: true, DelayLeft: time.Second}
		change(&s)
		return s
	}
	start, delay := superviseStep{Do: startAttempt}, superviseStep{Do: waitDelay}
	stop := func(o loop.Outcome, reason string) superviseStep { return superviseStep{stopAll, o, reason} }
	interrupted := stop(loop.Interrupted, "interrupted: nothing new is started")
	for _, c := range []struct {
		rule string
		s    status
		want superviseStep
	}{
		{"S3-08: cancelled before the first attempt", status{Max: 3, Canceled: true}, interrupted},
		{"S3-09: DONE before the first attempt", status{Max: 3, Done: true}, stop(loop.Done, reasonDone)},
		{"S3-09: DONE goes before the limit", status{Done: true}, stop(loop.Done, reasonDone)},
		{"S3-10, S3-37: the limit", status{Attempts: 3, Max: 3},
			stop(loop.Capped, "Attempt 3: Max restarts exceeded, stopping")},
		{"S3-10: a limit of none", status{}, stop(loop.Capped, "Attempt 0: Max restarts exceeded, stopping")},
		{"S3-11: the first attempt", status{Max: 3}, start},
		{"S3-13: DONE after an attempt", ran(func(s *status) { s.Done = true }), stop(loop.Done, reasonDone)},
		{"S3-13: DONE after an attempt that ended while we were cancelled",
			ran(func(s *status) { s.Done, s.Canceled = true, true }), stop(loop.Done, reasonDone)},
		{"S3-13: DONE goes before a wait", ran(func(s *status) { s.Done, s.Waiting = true, "exit code 42" }),
			stop(loop.Done, reasonDone)},
		{"S3-14, S3-15: the delay, also after exit code 0", ran(func(*status) {}), delay},
		{"S3-14: the delay, also after the last attempt", ran(func(s *status) { s.Attempts = 3 }), delay},
		{"S3-14: cancelled during the delay", status{Attempts: 1, Max: 3, DelayLeft: time.Second, Canceled: true}, interrupted},
		{"S3-26: DONE by hand during the delay", status{Attempts: 1, Max: 3, DelayLeft: time.Second, Done: true},
			stop(loop.Done, reasonDone)},
		{"S3-28, S3-29: DONE that cannot be told", ran(func(s *status) { s.Fault = "DONE is a directory" }),
			stop(loop.Invalid, "DONE is a directory")},
		{"S3-30: children are waited for", ran(func(s *status) { s.Done, s.Children, s.Patience = true, 1, 1 }),
			superviseStep{Do: waitChildren}},
		{"S3-30: not longer than the time for it", ran(func(s *status) { s.Done, s.Children = true, 1 }),
			stop(loop.Done, reasonDone)},
		{"S3-31: no restart while they are", status{Attempts: 1, Max: 3, Done: true, Children: 2, Patience: 1},
			superviseStep{Do: waitChildren}},
		{"S3-36, S3-46: cancelled after an attempt", ran(func(s *status) { s.Canceled = true }), interrupted},
		{"S3-47…S3-50: a wait", ran(func(s *status) { s.Waiting = "exit code 42" }),
			stop(loop.Waiting, reasonWaiting+" (exit code 42)")},
		{"S3-50: a wait goes before a cancellation", ran(func(s *status) { s.Waiting, s.Canceled = "x", true }),
			stop(loop.Waiting, reasonWaiting+" (x)")},
		{"S3-52: a fatal error", ran(func(s *status) { s.Fatal = "executable not found" }),
			stop(loop.Invalid, "executable not found")},
		{"S3-53: a cancellation that ends what runs",
			ran(func(s *status) { s.Killed, s.Canceled, s.Done = true, true, true }),
			stop(loop.Interrupted, "interrupted: what was running has been ended")},
		{"our own failure", ran(func(s *status) { s.Broken = "writing: broken pipe" }),
			stop(loop.Failed, "writing: broken pipe")},
	} {
		if got := c.s.next(); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.rule, got, c.want)
		}
	}
}

// TestHowAnAttemptEnded says what each end means, and what the log says of the second of three attempts.
func TestHowAnAttemptEnded(t *testing.T) {
	exit := func(code int) ending { return ending{Result: proc.Result{Class: proc.Exited, Exit: code}} }
	ours := func(code int) ending { e := exit(code); e.Ours = true; return e }
	is := func(c proc.Class, err error) ending {
		return ending{Result: proc.Result{Class: c, Exit: -1}, Program: "agent", Err: err}
	}
	pipe := exit(0)
	pipe.Err = errors.New("reading the output of sh: broken pipe")
	late := is(proc.Canceled, nil)
	late.After = 5 * time.Minute
	const transient = "WARNING: Attempt 2: Transient error: "
	for _, c := range []struct {
		name                   string
		e                      ending
		waiting, fatal, broken string
		lines                  []string
	}{
		{"S3-15: success", exit(0), "", "", "",
			[]string{"Attempt 2: Agent succeeded without the DONE marker, restarting (attempt 3/3)"}},
		{"S3-35: failure", exit(1), "", "", "",
			[]string{transient + "exit code 1", "Agent failed with exit code 1, restarting (attempt 3/3)"}},
		{"S3-47: wait", exit(42), "exit code 42", "", "", []string{"Attempt 2: Agent ended (exit code 42)"}},
		{"a shell's 127", exit(127), "", "", "",
			[]string{transient + "exit code 127", "Agent failed with exit code 127, restarting (attempt 3/3)"}},
		{"another program's 3", exit(3), "", "", "",
			[]string{transient + "exit code 3", "Agent failed with exit code 3, restarting (attempt 3/3)"}},
		{"C20: ralph's 2", ours(2), "", "invalid config: ralph ended with exit code 2; fix what it says above", "",
			[]string{"Fatal error: invalid config: ralph ended with exit code 2; fix what it says above"}},
		{"C20: ralph's 3", ours(3), "exit code 3 of ralph", "", "", []string{"Attempt 2: Agent ended (exit code 3)"}},
		{"a signal", ending{Result: proc.Result{Class: proc.Signalled, Signal: "SIGSEGV", Exit: -1}}, "", "", "",
			[]string{transient + "signal SIGSEGV", "Agent failed with signal SIGSEGV, restarting (attempt 3/3)"}},
		{"S3-46: its time is over", late, "", "", "",
			[]string{"Process group killed, treating as failure", "Restarting agent (attempt 3/3)"}},
		{"S3-52: missing", is(proc.NotFound, nil), "",
			"executable not found: agent; name a program that is on PATH, or its path", "",
			[]string{"Fatal error: executable not found: agent; name a program that is on PATH, or its path"}},
		{"S3-52: no permission", is(proc.NotExecutable, nil), "",
			"permission denied: agent cannot be executed; see its mode (chmod +x) and its first line", "",
			[]string{"Fatal error: permission denied: agent cannot be executed; see its mode (chmod +x) and its first line"}},
		{"cannot be started", is(proc.NotExecutable, errors.New("starting agent: argument list too long")), "",
			"starting agent: argument list too long", "",
			[]string{"Fatal error: starting agent: argument list too long"}},
		{"S3-51: no room for a process",
			is(proc.NotExecutable, fmt.Errorf("starting: %w", os.NewSyscallError("fork", syscall.EAGAIN))), "", "", "",
			[]string{transient + "starting: fork: resource temporarily unavailable",
				"Agent failed with starting: fork: resource temporarily unavailable, restarting (attempt 3/3)"}},
		{"its output cannot be handed on", pipe, "", "", "reading the output of sh: broken pipe", nil},
		{"ended by us", is(proc.Canceled, nil), "", "", "", []string{"Attempt 2: Agent ended (cancelled)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if w, f, b := c.e.waiting(), c.e.fatal(), c.e.broken(); w != c.waiting || f != c.fatal || b != c.broken {
				t.Errorf("waiting %q, fatal %q, broken %q", w, f, b)
			}
			if lines := c.e.lines(2, 3, true); !reflect.DeepEqual(lines, c.lines) {
				t.Errorf("lines = %q\nwant    %q", lines, c.lines)
			}
		})
	}
	if got := exit(0).lines(3, 3, false); !reflect.DeepEqual(got, []string{"Attempt 3: Agent succeeded"}) {
		t.Errorf("the last success: %q", got)
	}
	if got := exit(1).lines(3, 3, false); !reflect.DeepEqual(
		got, []string{"WARNING: Attempt 3: Transient error: exit code 1", "Agent failed with exit code 1"},
	) {
		t.Errorf("the last failure: %q", got)
	}
}
