package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

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

// markPrefix begins the name of a tree's mark. On Linux the rest is random, so a harness within a harness adds its own
// beside it.
const markPrefix = "TREE_MARK_"

// start starts the process, whose tree began in dir: a box may start it elsewhere. It returns nil when there is none,
// with the reason.
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

// result tells how the process ended. One that we could not end has no exit.
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
