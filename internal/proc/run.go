package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/ralph-loop/ralph/internal/proc/inside" // which has to come before whatever imports this
)

// Run runs a process to its end. When it returns, neither the process nor anything it started is left, as far as they
// can be distinguished from the rest (see tree): also what moved to another session or continued in the background of a
// good run. An error means that the harness could not do its part; Result.Class says what the process did wrong.
func Run(ctx context.Context, s Spec) (Result, error) {
	if len(s.Argv) == 0 {
		return Result{Class: NotFound, Exit: -1}, fmt.Errorf("starting a process: no program named")
	}
	if ctx.Err() != nil {
		return Result{Class: Canceled, Exit: -1}, nil
	}
	s.Grace = cmp.Or(s.Grace, GraceOf(ctx))
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
			return Canceled
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

// running is a process that has been started.
type running struct {
	spec    Spec
	began   time.Time
	process *os.Process
	pulse   *Heartbeat
	pipes   *pipes
	tree    *tree
	warning sync.WaitGroup
	taken   *usage             // what it has taken of the machine
	over    chan limitExceeded // limits that it has passed
	passed  limitExceeded      // the one that it was stopped at
	done    chan struct{}      // closed when the process itself has ended
	state   *os.ProcessState   // valid once done is closed
}

// start starts the process, whose tree began in dir: a box may start it elsewhere. It returns nil and the reason when
// it could not.
func start(s Spec, dir string) (r *running, err error) {
	path, err := lookPath(s.Argv[0], s.Env, s.Dir)
	if err != nil {
		return nil, err
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory that can be run in", s.Dir)
		}
	}
	r = &running{spec: s, pulse: s.Pulse, done: make(chan struct{}), over: make(chan limitExceeded, 2)}
	if r.pulse == nil {
		r.pulse = new(Heartbeat)
	}
	r.pulse.Beat()
	if r.pipes, err = openPipes(s, r.pulse, &meter{most: s.Limits.Output, over: r.over}); err != nil {
		return nil, err
	}
	r.taken = newUsage(s, dir)
	var mark string
	if r.tree, mark, err = newTree(dir); err != nil {
		r.pipes.abandon()
		return nil, err
	}
	r.began = time.Now()
	cmd, err := r.launch(path, mark)
	if err != nil {
		r.taken.close(false)
		r.tree.close()
		r.pipes.abandon()
		return nil, err
	}
	r.process = cmd.Process
	r.taken.bind(r.process.Pid, s)
	go r.wait(cmd)
	r.pipes.copyAll()
	return r, nil
}

// launch starts the program, again when someone is between fork and exec and holds its file open.
func (r *running) launch(path, mark string) (cmd *exec.Cmd, err error) {
	from := ours
	if r.spec.As != nil {
		from = renounced
	}
	for try := 0; ; try++ {
		cmd = &exec.Cmd{
			Path: path, Args: r.spec.Argv, Dir: r.spec.Dir, Env: append(append([]string(nil), r.spec.Env...), mark),
			SysProcAttr: attributes(r.spec.As),
		}
		r.pipes.connect(cmd)
		r.taken.enter(cmd.SysProcAttr)
		if err = r.tree.startRoot(cmd, from); err != nil && r.taken.outside() {
			continue
		}
		if !errors.Is(err, syscall.ETXTBSY) || try == 10 {
			return cmd, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// wait waits for the process itself.
func (r *running) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // ProcessState says it all
	r.state = cmd.ProcessState
	r.tree.waited()
	close(r.done)
}

// result says how the process ended. One that we could not end has no exit.
func (r *running) result(class Class) (Result, error) {
	select {
	case <-r.done:
	default:
		return Result{Class: class, Exit: -1},
			fmt.Errorf("ending %s: process %d does not react to being killed: see what it waits for", name(r.spec),
				r.process.Pid)
	}
	if r.state == nil {
		return Result{Class: class, Exit: -1},
			fmt.Errorf("waiting for %s: this process has waited for it already", name(r.spec))
	}
	result := Result{Class: class, Exit: r.state.ExitCode(), Signal: signalName(r.state)}
	if class == Exited && result.Signal != "" {
		result.Class = Signalled
	}
	return result, nil
}

// notStarted tells a program that cannot be run from a harness that cannot run it.
func notStarted(s Spec, err error) (Result, error) {
	r := Result{Exit: -1}
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, syscall.ENOENT): // the second: its interpreter
		r.Class = NotFound
		return r, nil
	case errors.Is(err, ErrNotExecutable), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC):
		r.Class = NotExecutable
		return r, nil
	}
	r.Class = NotExecutable
	return r, fmt.Errorf("starting %s: %w", name(s), err)
}

// stop ends the process: INT to it alone, TERM to the whole tree, each with its time, then KILL. It returns when the
// process has been waited for, or does not even die of KILL for a time (killing).
func (r *running) stop() {
	if r.spec.Interrupt > 0 {
		interrupt(r.tree.innermost(r.process))
		r.within(r.spec.Interrupt, func() bool { return true })
	}
	r.tree.terminate()
	if r.within(r.spec.Grace, r.tree.gone) {
		return
	}
	r.end()
}

// end kills the whole tree, and waits for the process itself.
func (r *running) end() {
	r.tree.cut()
	over := time.NewTimer(killing)
	defer over.Stop()
	select {
	case <-r.done:
	case <-over.C: // it is in uninterruptible sleep, or is not ours to kill
	}
}

// within waits until the process has ended and the rest is gone, and reports whether that was in time.
func (r *running) within(limit time.Duration, gone func() bool) bool {
	over := time.NewTimer(limit)
	defer over.Stop()
	pause := time.Millisecond
	look := time.NewTimer(pause)
	defer look.Stop()
	for done := r.done; ; {
		select {
		case <-over.C:
			return false
		case <-r.spec.Hurry:
			return false
		case <-done:
			done = nil // the rest of the tree still has its time
		case <-look.C:
			if done == nil && gone() {
				return true
			}
			pause = min(2*pause, 20*time.Millisecond)
			look.Reset(pause)
		}
	}
}

// End ends processes that were spared, with everything that they started: TERM, and KILL when the grace is over (0:
// DefaultGrace). It returns when they are gone, or a few seconds after the grace when the system does not end them. Ids
// of processes that have ended since they were spared are skipped.
func End(pids []int, grace time.Duration) {
	active.add(1)
	defer active.add(-1)
	t, err := take(pids)
	if err != nil {
		return // nothing was ever spared
	}
	defer t.close()
	t.terminate()
	over, pause := time.Now().Add(cmp.Or(grace, DefaultGrace)), time.Millisecond
	for !t.gone() && time.Now().Before(over) {
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	t.kill()
}

// bounded tells an end that a limit has brought about from any other.
func (r *running) bounded(end Result) Result {
	if r.passed.limit == "" {
		select {
		case r.passed = <-r.over: // it had ended before it was stopped
		default:
			r.passed = r.taken.told(end)
		}
	}
	if r.passed.limit == "" || end.Class != Limited && end.Class != Exited && end.Class != Signalled {
		return end
	}
	end.Class, end.Limit, end.Why = Limited, r.passed.limit, r.passed.why()
	return end
}

// observe looks at what the process takes until the function is called.
func (r *running) observe() (stop func()) {
	over := make(chan struct{})
	if r.taken.watched() {
		go func() {
			every := time.NewTicker(lookEvery)
			defer every.Stop()
			for {
				select {
				case <-over:
					return
				case <-every.C:
				}
				if e, ok := r.taken.look(r.tree); ok {
					r.over <- e
					return
				}
			}
		}()
	}
	return func() { close(over) }
}

// lookEvery is how often it is examined what a process takes.
const lookEvery = 100 * time.Millisecond

// activity counts the processes that Run and End are at.
type activity struct {
	mu    sync.Mutex
	count int
	since time.Time // when the count has become what it is; the zero time when nothing was ever started
}

var active activity

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count += n
	a.since = time.Now()
}

// QuietFor is for how long nothing that was started here has been running, 0 while something is. What was spared runs
// until End.
func QuietFor() time.Duration {
	active.mu.Lock()
	defer active.mu.Unlock()
	if active.count > 0 || anySpared() {
		return 0
	}
	return time.Since(active.since)
}

// When memory is given back: once a process has run for restAfter, which most checks do not, and no more often than
// every restEvery.
const (
	restAfter = 250 * time.Millisecond
	restEvery = 5 * time.Second
)

var rested atomic.Int64 // when, in seconds

// restNow gives memory back, unless that was done a moment ago: while a process runs for minutes, there is nothing to
// do but read.
func restNow() {
	now := time.Now().Unix()
	if last := rested.Load(); now-last >= int64(restEvery/time.Second) && rested.CompareAndSwap(last, now) {
		FreeMemory()
	}
}
