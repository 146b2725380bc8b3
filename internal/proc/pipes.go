package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// pipes are a process's standard streams. They are plain files, so waiting for the process never waits for them. Where
// no one tells or listens, the null device is in.
type pipes struct {
	childIn, childOut, childErr *os.File
	in, out, err                *os.File // our ends; nil where no one tells or listens
	spec                        Spec
	pulse                       *Heartbeat
	meter                       *meter
	mu                          sync.Mutex // one writer at a time
	copying                     sync.WaitGroup
	failed                      error // the first error of a caller's writer
}

func openPipes(s Spec, pulse *Heartbeat, m *meter) (p *pipes, err error) {
	p = &pipes{spec: s, pulse: pulse, meter: m}
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	if s.Stdin != nil {
		if p.childIn, p.in, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	heard := s.Idle > 0 && s.Pulse == nil // any output is a sign of life
	if s.Stdout != nil || heard {
		if p.out, p.childOut, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	switch {
	case same(s.Stdout, s.Stderr): // one pipe keeps the order in which the process wrote
		p.childErr = p.childOut
	case s.Stderr != nil || heard:
		if p.err, p.childErr, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	if s.As != nil { // only the pipe's owner can open /dev/stdout again
		for _, f := range []*os.File{p.childIn, p.childOut, p.childErr} {
			if f != nil {
				_ = f.Chown(int(s.As.UID), int(s.As.GID))
			}
		}
	}
	return p, nil
}

// connect gives the process its streams; os/exec opens the null device where one is missing.
func (p *pipes) connect(cmd *exec.Cmd) {
	if p.childIn != nil {
		cmd.Stdin = p.childIn
	}
	if p.childOut != nil {
		cmd.Stdout = p.childOut
	}
	if p.childErr != nil {
		cmd.Stderr = p.childErr
	}
}

// copyAll begins to move bytes. The child's ends are the child's alone from here.
func (p *pipes) copyAll() {
	closeAll(p.childIn, p.childOut, p.childErr)
	if p.in != nil {
		go func() { // never waited for: a reader that blocks is the caller's
			_, _ = io.Copy(p.in, p.spec.Stdin) // a process need not read its input
			_ = p.in.Close()
		}()
	}
	if p.out != nil {
		p.copying.Go(func() { p.copy(p.out, p.spec.Stdout) })
	}
	if p.err != nil {
		p.copying.Go(func() { p.copy(p.err, p.spec.Stderr) })
	}
}

// same reports whether two writers are one. Writers that cannot be compared are two.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a != nil && a == b
}

// buffers are as large as a pipe.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// copy hands on what comes, to the end or, once finish says so, what is there by then. It always reads on, so that a
// writer's failure never stops the process.
func (p *pipes) copy(from *os.File, to io.Writer) {
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	for left := -1; left != 0; { // bytes; below 0 there is no end yet
		n, err := from.Read(buffer[:])
		if n > 0 {
			if p.spec.Pulse == nil {
				p.pulse.Beat()
			}
			p.hand(to, buffer[:n])
			if left > 0 {
				left = max(left-n, 0)
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && left < 0:
			left = pending(from)
			_ = from.SetReadDeadline(time.Time{})
		case err != nil:
			return
		}
	}
}

func (p *pipes) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spec.Waits == nil || p.spec.Waits()
}

func (p *pipes) hand(to io.Writer, chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if chunk = p.meter.allowed(chunk); to == nil || p.failed != nil || len(chunk) == 0 {
		return
	}
	if _, err := to.Write(chunk); err != nil {
		p.failed = err
	}
}

// finish reads what is in the pipes, which holds every byte of those who are dead, and waits for nothing but the
// caller's writers. A process that lives on with an open pipe does not delay it. Such a pipe is read on and its bytes
// thrown away when its writers were spared, so that they do not break; otherwise it is closed.
func (p *pipes) finish(spared bool) error {
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil && f.SetReadDeadline(time.Now()) != nil {
			defer time.AfterFunc(drain, func() { _ = f.Close() }).Stop() // pipes know no deadline here
		}
	}
	p.copying.Wait()
	closeAll(p.in)
	if spared {
		discard(p.out)
		discard(p.err)
	} else {
		closeAll(p.out, p.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.failed, os.ErrClosed) {
		return nil
	}
	return p.failed
}

// drain is how long output may still be read where pipes know no deadline.
const drain = 2 * time.Second

func discard(f *os.File) {
	if f == nil {
		return
	}
	go func() {
		_ = f.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, f)
		_ = f.Close()
	}()
}

func (p *pipes) abandon() { closeAll(p.childIn, p.childOut, p.childErr, p.in, p.out, p.err) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
