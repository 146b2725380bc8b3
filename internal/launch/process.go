package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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

// Start starts a job. When ctx ends, the job is handed on: its process ends, and the run can continue in another. The error
// says that there is no process; whoever gets a Running calls its Wait.
func (p *Process) Start(ctx context.Context, job Job) (*Running, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("making an address for the job's process: %w", err)
	}
	r := newRunning(job, rand.Text(), p.Clock)
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	r.done = append(r.done, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // until Close
	link := work.Link{Address: "http://" + listener.Addr().String(), Bearer: r.bearer, Patience: answersAgain}
	if err := r.provide(ctx, p.Mirrors, p.Log, link.Address, rand.Text()); err != nil {
		return nil, err
	}
	running, end := context.WithCancel(ctx)
	r.end = end
	last := proc.NewTail(0, mostTail)
	in, out := io.Pipe() // it ends with us
	go func() { _ = json.NewEncoder(out).Encode(link) }()
	spec := proc.Spec{Argv: []string{p.Program, "work"}, Dir: "/", Env: proc.Environment(p.Environ, proc.Allowed),
		Stdin: in, Stdout: last, Stderr: last, Interrupt: p.Grace, Limits: p.Limits}
	go func() {
		result, err := proc.Run(running, spec)
		_ = in.Close()
		if _, text, _ := last.Ends(); err == nil {
			err = &DiedError{how(result), r.withoutSecrets(text)}
		}
		r.ended <- err
	}()
	return r, nil
}

// answersAgain is how long a server that lives may not answer its processes.
const answersAgain = 10 * time.Second

const mostTail = 4 << 10 // bytes of what a process printed last

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

// withoutSecrets is what a process printed, without the secrets that it had.
func (r *Running) withoutSecrets(text string) string {
	for _, token := range r.tokens.values() {
		text = strings.ReplaceAll(text, token, "***")
	}
	if r.models != nil {
		text = strings.ReplaceAll(text, r.models.Bearer(), "***")
	}
	return strings.TrimSpace(safetext.InertLines(text))
}
