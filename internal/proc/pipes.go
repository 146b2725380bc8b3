package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Pulse is the time of the last sign of life. The zero value has never shown one.
type Pulse struct{ last atomic.Int64 }

// Beat notes a sign of life. It may be called from any goroutine.
func (p *Pulse) Beat() { p.last.Store(time.Now().UnixNano()) }

func (p *Pulse) since() time.Duration { return time.Duration(time.Now().UnixNano() - p.last.Load()) }

// drain is how long output may still be read once everything that could write it is dead: a pipe holds 64 KiB, so that is plenty. A
// process that got away with the pipe in its hands is not waited for any longer.
const drain = 2 * time.Second

// pipes are a process's standard streams. They are plain files, so waiting for the process never waits for them.
type pipes struct {
	childIn, childOut, childErr *os.File
	in, out, err                *os.File // our ends; in is nil without Stdin
	spec                        Spec
	pulse                       *Pulse
	mu                          sync.Mutex // one writer at a time
	copying                     sync.WaitGroup
	failed                      error // the first error of a caller's writer
}

func openPipes(s Spec, pulse *Pulse) (p *pipes, err error) {
	p = &pipes{spec: s, pulse: pulse}
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	if s.Stdin == nil {
		if p.childIn, err = os.Open(os.DevNull); err != nil {
			return nil, err
		}
	} else if p.childIn, p.in, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.out, p.childOut, err = os.Pipe(); err != nil {
		return nil, err
	}
	if same(s.Stdout, s.Stderr) { // one pipe keeps the order in which the process wrote
		p.childErr = p.childOut
	} else if p.err, p.childErr, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.As != nil { // who may open /dev/stdout anew is the pipe's owner
		for _, f := range []*os.File{p.childIn, p.childOut, p.childErr} {
			if s.Stdin != nil || f != p.childIn {
				_ = f.Chown(int(s.As.UID), int(s.As.GID))
			}
		}
	}
	return p, nil
}

// copyAll begins to move bytes. The child's ends are the child's alone from here.
func (p *pipes) copyAll() {
	closeAll(p.childIn, p.childOut, p.childErr)
	if p.in != nil {
		go func() { // never waited for: a reader that blocks is the caller's
			_, _ = io.Copy(p.in, p.spec.Stdin) // a process need not read what it is told
			_ = p.in.Close()
		}()
	}
	p.copying.Add(1)
	go p.copy(p.out, p.spec.Stdout)
	if p.err != nil {
		p.copying.Add(1)
		go p.copy(p.err, p.spec.Stderr)
	}
}

// same reports whether two writers are one. Writers that cannot be compared are two.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a != nil && a == b
}

// copy hands on what comes. It always reads to the end, so that a writer's failure never stops the process.
func (p *pipes) copy(from *os.File, to io.Writer) {
	defer p.copying.Done()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if p.spec.Pulse == nil {
				p.pulse.Beat()
			}
			p.hand(to, buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

func (p *pipes) hand(to io.Writer, chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to == nil || p.failed != nil {
		return
	}
	if _, err := to.Write(chunk); err != nil {
		p.failed = err
	}
}

// finish waits for the rest of the output, a short time only.
func (p *pipes) finish() error {
	late := time.Now().Add(drain)
	_ = p.out.SetReadDeadline(late)
	if p.err != nil {
		_ = p.err.SetReadDeadline(late)
	}
	p.copying.Wait()
	closeAll(p.out, p.err, p.in)
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.failed, os.ErrClosed) {
		return nil
	}
	return p.failed
}

func (p *pipes) abandon() { closeAll(p.childIn, p.childOut, p.childErr, p.in, p.out, p.err) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
