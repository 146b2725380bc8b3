package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// running is a process that has been started.
type running struct {
	spec  Spec
	began time.Time
	pid   int
	pulse *Pulse
	pipes *pipes
	tree  *tree
	done  chan struct{} // closed when the process itself has ended
	ended ended         // valid once done is closed
}

// ended is what the system says of an ended process.
type ended struct {
	state *os.ProcessState
}

func (e ended) result(class Class) Result {
	r := Result{Class: class, Exit: e.state.ExitCode(), Signal: signalName(e.state)}
	if class == Exited && r.Signal != "" {
		r.Class = Signalled
	}
	return r
}

// start starts the process. It returns nil when there is none, with the reason.
func start(s Spec) (*running, error) {
	path, err := lookPath(s.Argv[0], s.Env, s.Dir)
	if err != nil {
		return nil, err
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory that can be run in", s.Dir)
		}
	}
	r := &running{spec: s, pulse: s.Pulse, done: make(chan struct{})}
	if r.pulse == nil {
		r.pulse = new(Pulse)
	}
	r.pulse.Beat()
	if r.pipes, err = openPipes(s, r.pulse); err != nil {
		return nil, err
	}
	mark := newMark()
	command := func() *exec.Cmd {
		return &exec.Cmd{
			Path: path, Args: s.Argv, Dir: s.Dir, Env: append(append([]string(nil), s.Env...), mark+"=1"),
			Stdin: r.pipes.childIn, Stdout: r.pipes.childOut, Stderr: r.pipes.childErr,
			SysProcAttr: attributes(s.As),
		}
	}
	r.began = time.Now()
	started := make(chan error, 1)
	go r.own(command, started)
	if err := <-started; err != nil {
		r.pipes.abandon()
		return nil, err
	}
	r.tree = newTree(r.pid, mark)
	r.pipes.copyAll()
	return r, nil
}

// own starts the process and waits for it on one thread: Linux ends a process with its parent's *thread* when it is asked to end it
// with its parent. With a user given, the thread is not given back, since it can no longer gain privileges.
func (r *running) own(command func() *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	if r.spec.As == nil {
		defer runtime.UnlockOSThread()
	} else if err := renouncePrivileges(); err != nil {
		started <- err
		return
	}
	cmd := command()
	err := cmd.Start()
	for try := 0; try < 10 && errors.Is(err, syscall.ETXTBSY); try++ { // somebody is between fork and exec, holding the file open
		time.Sleep(20 * time.Millisecond)
		cmd = command()
		err = cmd.Start()
	}
	if err != nil {
		started <- err
		return
	}
	r.pid = cmd.Process.Pid
	started <- nil
	_ = cmd.Wait() // ProcessState says it all
	r.ended = ended{cmd.ProcessState}
	close(r.done)
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
