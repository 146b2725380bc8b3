// Package proc is the door to processes: it starts one, bounds it in time, and leaves nothing of it running.
package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	_ "github.com/ralph-loop/ralph/internal/proc/inside" // which has to come before whatever imports this
)

// Spec is one process to run. Nothing is inherited: not the environment, not standard input, no open file.
type Spec struct {
	Argv []string // the program, by path or by the PATH in Env, and its arguments
	Dir  string   // where it runs; "" is where we are
	Env  []string // its whole environment, NAME=value
	// Stdin is copied to the process and closed; nil is empty.
	Stdin io.Reader
	// Stdout and Stderr get every byte as it comes, never both at the same time, so they may be the same writer,
	// which then sees the bytes in the order they were written. nil discards. When one
	// fails, the process runs on and Run returns the error.
	Stdout, Stderr io.Writer
	Timeout        time.Duration // how long it may run; 0: no limit
	Idle           time.Duration // how long it may be silent; 0: no limit
	// Waits is asked, while nothing is written, whether a process that has been silent for so long waits for something that
	// never comes. Otherwise it runs on. If nil, each silent process waits.
	Waits func() bool
	// Pulse, when set, says what a sign of life is; else any output is.
	Pulse *Heartbeat
	// Soft is how long it may run before OnSoft is called, once, which stops nothing; 0: never. OnSoft has a goroutine of
	// its own, and Run returns after it.
	Soft   time.Duration
	OnSoft func()
	// Interrupt is how long the process alone, without what it started, may take to end by itself after INT, before the
	// tree gets TERM: an agent still tells then what it cost. 0: there is no INT.
	Interrupt time.Duration
	// Grace is how long the tree may take to end between TERM and KILL; 0 is GraceOf the context.
	Grace time.Duration
	// Hurry, when closed, ends Interrupt and Grace at once. Before something stops the process it does nothing.
	Hurry <-chan struct{}
	// Spare is asked when the process has ended by itself, also by a signal that was not ours. The processes whose ids it
	// returns are left running with all that has come of them, for End to end; the rest of the tree is killed. What they
	// write to the streams that they inherited is read and thrown away for as long as we live.
	Spare func() []int
	// As is whom it runs as, without privileges to gain from there; nil is ourselves. Env should set its HOME.
	As *User
	// Box keeps it from what is none of its business; nil: nothing does.
	Box Box
	// WritableDir is a directory that was made for it alone, and that a Box lets it write; "" is none.
	WritableDir string
	// AllowedAddress is an address of this machine that a Box lets it reach, at the same address: "127.0.0.1:8080"; "" is none.
	AllowedAddress string
	// Limits are what it may take, with all that comes of it.
	Limits Limits
}

// DefaultGrace is the time between TERM and KILL where no one says otherwise.
const DefaultGrace = 5 * time.Second

type graceKey struct{}

// WithGrace makes a context whose processes have this time between TERM and KILL: a place that kills us soon leaves
// less of it to everything that is started there.
func WithGrace(ctx context.Context, grace time.Duration) context.Context {
	return context.WithValue(ctx, graceKey{}, grace)
}

// GraceOf is the time between TERM and KILL of the processes of a context: that of WithGrace, or DefaultGrace.
func GraceOf(ctx context.Context) time.Duration {
	grace, _ := ctx.Value(graceKey{}).(time.Duration)
	return orElse(grace, DefaultGrace)
}

// Class says how a process ended.
type Class string

// The classes of an end. TimedOut, Idle, Cancelled and Limited processes were killed by us, with everything they had
// started, Limited ones maybe by the system.
const (
	Exited        Class = "exited"
	Signalled     Class = "signalled" // by a signal that was not ours
	TimedOut      Class = "timeout"
	Idle          Class = "idle"
	Cancelled     Class = "cancelled"      // ctx was done
	Limited       Class = "limit"          // it took more than its Limits allow: see Result.Limit
	NotFound      Class = "not-found"      // no such program
	NotExecutable Class = "not-executable" // it is there and cannot be run
)

// Result is how a process ended.
type Result struct {
	Class    Class
	Exit     int    // the exit code; -1 when a signal ended it or it never ran
	Signal   string // "SIGKILL"; "" when none did
	Duration time.Duration
	Limit    Limit // of a Limited one: what it had too much of
	// Why says of a Limited one how much that was, and what to do: "was stopped: it had more than 4096 processes …".
	Why string
}

// Run runs a process to its end. When it returns, neither the process nor anything it started is left, as far as they
// can be told apart from the rest (see tree): also what moved to another session or continued in the background of a good
// run. An error means that the harness could not do its part; what the process did wrong is told by Result.Class.
func Run(ctx context.Context, s Spec) (Result, error) {
	if len(s.Argv) == 0 {
		return Result{Class: NotFound, Exit: -1}, fmt.Errorf("starting a process: no program named")
	}
	if ctx.Err() != nil {
		return Result{Class: Cancelled, Exit: -1}, nil
	}
	s.Grace = orElse(s.Grace, GraceOf(ctx))
	asked := s
	box, err := boxed(s)
	if err != nil {
		return notStarted(s, err)
	}
	defer box.Leave()
	s = box.Spec
	active.add(1)
	r, err := start(s, asked.Dir)
	if r == nil {
		active.add(-1)
		return notStarted(s, err)
	}
	r.tree.keep(box.Keepers)
	class := r.watch(ctx)
	spared := false
	switch {
	case class == Limited:
		r.taken.kill()
		r.tree.halt()
		r.end()
	case class != Exited:
		r.stop()
	case s.Spare != nil:
		spared = r.tree.spare(s.Spare())
	}
	r.tree.kill() // strays, also of a run that ended well
	r.tree.close()
	active.add(-1)
	err = r.pipes.finish(spared)
	r.warning.Wait()
	result, undead := r.result(class)
	result = r.bounded(box.told(asked, result))
	r.taken.close(spared)
	result.Duration = time.Since(r.began)
	switch {
	case undead != nil:
		return result, undead
	case err != nil:
		return result, fmt.Errorf("reading the output of %s: %w", name(s), err)
	}
	return result, nil
}

// watch waits until the process has ended or has to be ended, and says which.
func (r *running) watch(ctx context.Context) Class {
	var timeout, idle, soft <-chan time.Time
	if r.spec.Timeout > 0 {
		t := time.NewTimer(r.spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	if r.spec.Soft > 0 && r.spec.OnSoft != nil {
		t := time.NewTimer(r.spec.Soft)
		defer t.Stop()
		soft = t.C
	}
	var silence *time.Timer
	if r.spec.Idle > 0 {
		silence = time.NewTimer(r.spec.Idle)
		defer silence.Stop()
		idle = silence.C
	}
	rest := time.NewTimer(restAfter)
	defer rest.Stop()
	defer r.observe()()
	for {
		select {
		case <-r.done:
			return Exited
		case r.passed = <-r.over:
			return Limited
		case <-rest.C:
			restNow()
		case <-ctx.Done():
			return Cancelled
		case <-soft: // comes once
			r.warning.Go(r.spec.OnSoft)
		case <-timeout:
			return TimedOut
		case <-idle:
			left := r.spec.Idle - r.pulse.since()
			if left <= 0 && r.pipes.waits() {
				return Idle
			}
			silence.Reset(cmp.Or(max(left, 0), r.spec.Idle))
		}
	}
}

// Box keeps a process from what is none of its business: files, processes, hosts. What holds in it, the Box says
// elsewhere.
type Box interface {
	// Enter makes of what is to be run what is run instead: s with another program, arguments and environment, and without
	// s.Box. The error wraps ErrNotFound or ErrNotExecutable when there is no such program.
	Enter(s Spec) (SandboxedCommand, error)
}

// SandboxedCommand is what is run to run something in a box.
type SandboxedCommand struct {
	Spec Spec
	// Keepers is how many processes, from the one that is started down to the one that was meant, only keep the box: each
	// is the only child of the one before. They end with what they keep, and are asked to end by no one but KILL.
	Keepers int
	// Wraps says that the keepers tell by an exit code of 128 and more that a signal has ended what they keep.
	Wraps bool
	// Leave is called once, when nothing of it runs any more; nil: nothing is to be done.
	Leave func()
}

// boxed readies what is run: s itself when it has no box.
func boxed(s Spec) (SandboxedCommand, error) {
	if s.Box == nil {
		return SandboxedCommand{Spec: s, Leave: func() {}}, nil
	}
	b, err := s.Box.Enter(s)
	b.Spec.Box = nil
	if b.Leave == nil {
		b.Leave = func() {}
	}
	return b, err
}

// told is how what is kept ended, as far as its keepers tell: a shell says the same of what it ran, and has ended by
// itself.
func (b SandboxedCommand) told(asked Spec, r Result) Result {
	if n := r.Exit - 128; b.Wraps && r.Class == Exited && n > 0 && n < 32 && name(asked) != "sh" {
		r.Class, r.Exit, r.Signal = Signalled, -1, signalOf(n)
	}
	return r
}

// Ask asks a process to end (TERM). right is asked first whether it is the one that is meant, and gets its name; the
// number cannot become another process's in between on systems that hand out handles of processes.
func Ask(pid int, right func(name string) error) error {
	if pid <= 1 {
		return fmt.Errorf("process %d is not to be asked to end", pid)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("finding process %d: %w", pid, err)
	}
	defer func() { _ = p.Release() }()
	if err := right(Name(pid)); err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("asking process %d to end: %w", pid, err)
	}
	return nil
}
