package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/work"
)

// Process starts each job as a process of this machine. What it leaves is killed, and no other job is harmed.
type Process struct {
	Program string   // ralph itself, an absolute path
	Environ []string // ours, of which the process gets what builds and tools need to find their way
	Limits  proc.Limits
	// Grace is how long a process that is to end may take for its last commit, push and words.
	Grace   time.Duration
	Mirrors *Mirrors // nil: none are kept
	Log     func(format string, args ...any)
	Clock   func() time.Time
}

// Start starts a job. When ctx ends, the job is handed on: its process ends, and the run can go on in another. The error
// says that there is no process; whoever gets a Running calls its Wait.
func (p *Process) Start(ctx context.Context, job Job) (*Running, error) {
	r, err := prepare(ctx, job, setting{p.Mirrors, p.Environ, p.Log, p.Clock}, gate{})
	if err != nil {
		return nil, err
	}
	theirs, err := r.connect()
	if err != nil {
		r.cleanUp()
		return nil, err
	}
	r.send(ctx)
	running, end := context.WithCancel(ctx)
	r.end = end
	var last tail
	spec := proc.Spec{Argv: []string{p.Program, "work"}, Dir: "/", Env: proc.Environment(p.Environ, proc.Allowed),
		Stdout: &last, Stderr: &last, Interrupt: p.Grace, Limits: p.Limits, Socket: theirs}
	go func() {
		result, err := proc.Run(running, spec)
		_ = theirs.Close() // only now: the process has its own
		r.ended <- ended{how(result), r.shown(last.String()), err}
	}()
	return r, nil
}

// how says how a process ended.
func how(r proc.Result) string {
	switch {
	case r.Class == proc.Limited:
		return r.Why
	case r.Signal != "":
		return "was ended by the signal " + r.Signal
	case r.Class == proc.NotFound || r.Class == proc.NotExecutable:
		return "could not be started: ralph itself is not where it was"
	}
	return fmt.Sprintf("ended with exit code %d", r.Exit)
}

// shown is what a process printed, without the secrets that it had.
func (r *Running) shown(text string) string {
	for _, token := range r.tokens.values() {
		text = strings.ReplaceAll(text, token, "***")
	}
	if r.models != nil {
		text = strings.ReplaceAll(text, r.models.Bearer(), "***")
	}
	return strings.TrimSpace(safetext.InertLines(text))
}

// setting is what launchers have in common.
type setting struct {
	mirrors *Mirrors
	environ []string
	log     func(format string, args ...any)
	clock   func() time.Time
}

// prepare makes everything a job's process needs except its connection.
func prepare(ctx context.Context, job Job, s setting, at gate) (*Running, error) {
	r := &Running{job: job, ended: make(chan ended, 1), heard: make(chan struct{}), end: func() {},
		tokens: &issuer{from: job.Tokens, clock: s.clock}}
	r.done = append(r.done, func() { tell(s, r.tokens.revoke(context.WithoutCancel(ctx))) })
	if err := r.provide(ctx, s, at); err != nil {
		r.cleanUp()
		return nil, err
	}
	return r, nil
}

// send sends the order, and begins to hear the process.
func (r *Running) send(ctx context.Context) {
	r.to.Attach(r.conn)
	r.to.Send(work.ToProcess{Order: &r.job.Order})
	go r.listen(context.WithoutCancel(ctx))
}

func tell(s setting, err error) {
	if err != nil {
		s.log("%v", err)
	}
}

// provide gets what the order is to hold: a token, the models' address, a mirror.
func (r *Running) provide(ctx context.Context, s setting, at gate) (err error) {
	order := &r.job.Order
	if order.Token, err = r.tokens.first(ctx); err != nil {
		return err
	}
	var environ []string
	if r.models, environ, err = r.job.Models.open(at, s.log); err != nil {
		return err
	}
	if r.models != nil {
		r.done = append(r.done, func() { tell(s, r.models.Close()) })
	}
	order.Environ = append(append([]string(nil), order.Environ...), environ...)
	if s.mirrors == nil {
		return nil
	}
	dir, back, err := s.mirrors.Borrow(ctx, order.Repository, remote(*order, order.Token.Value), s.environ)
	if err != nil {
		s.log("%v", err) // the job fetches everything itself then
		return nil
	}
	order.Mirror = dir
	r.done = append(r.done, back)
	return nil
}

// connect makes the socket, and returns the process's end of it.
func (r *Running) connect() (theirs *os.File, err error) {
	ours, theirs, err := pair()
	if err != nil {
		return nil, fmt.Errorf("making the job's socket: %w", err)
	}
	r.conn, err = net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		_ = theirs.Close()
		return nil, fmt.Errorf("making the job's socket: %w", err)
	}
	return theirs, nil
}

// tail keeps the end of what a process prints. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const mostTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-mostTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
