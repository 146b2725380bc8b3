// Package launch is the server's side of a job: it has a process do it, gives that tokens, models and a mirror, answers
// what it asks, and cleans up after it.
package launch

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/work"
)

// Job is one job, and what the server does for it.
type Job struct {
	// Order is the process's order. Token, Mirror and the models' part of Environ are filled in here.
	Order  work.Order
	Tokens Tokens
	Models Models
	Hear   Listener
	Claim  Claim // of Runners
}

// Tokens makes the installation tokens of a job, for its repository and with its permissions alone.
type Tokens interface {
	// Make makes a token. Number of what comes back does not count.
	Make(ctx context.Context) (work.Token, error)
	// Revoke ends a token that was made. It has the value alone, since the job is over.
	Revoke(ctx context.Context, token string) error
}

// Listener hears what a job's process tells.
type Listener interface {
	// Hear takes in the next messages, in their order, and returns what people have said after a number. It is called
	// with each message once, and may be called with none. After an error it is called again: until then the process
	// keeps what it has told. Messages of one that was killed can come again from the next one.
	Hear(ctx context.Context, from *Running, told []work.ToServer, after int64) ([]work.Word, error)
}

// DiedError is of a process that ended without a word: it was killed, or it crashed. Another attempt of the job continues
// with its run.
type DiedError struct {
	How  string // "was ended by the signal SIGKILL"
	Last string // what it printed last, at most 4 KiB; often nothing
}

func (e *DiedError) Error() string {
	text := "the job's process " + e.How
	if e.Last != "" {
		text += "; it said last: " + e.Last
	}
	return text
}

// Running is a job that a process does, or shall do. It answers what that process asks.
type Running struct {
	job    Job
	bearer string // of the process
	tokens *issuer
	models *gateway.Turn
	done   []func() // what is cleaned up after the process
	end    context.CancelFunc
	seen   chan struct{} // the process has asked for something; holds one
	ended  chan error    // from the goroutine that waits for the process: a *DiedError, or why that is unknown
	state  atomic.Int32

	mu    sync.Mutex // held while something is heard
	heard int        // number of the last message
	told  *work.End
	name  string          // of the job on the runner, see Claim
	shown map[string]bool // tokens of GitHub Actions
}

// States of a Running.
const (
	waits = iota // there is no order yet
	ready
	over
	away // it is left to the next server, with the tokens that it has
)

func newRunning(job Job, bearer string, clock func() time.Time) *Running {
	return &Running{job: job, bearer: bearer, name: job.Claim.Name, tokens: &issuer{from: job.Tokens, clock: clock}, end: func() {},
		seen: make(chan struct{}, 1), ended: make(chan error, 1), shown: map[string]bool{}}
}

// HandOn ends the process and not the run, which another attempt of the job continues with.
func (r *Running) HandOn() { r.end() }

// Wait waits for the end of the process and cleans up after it: its tokens are revoked, nothing of it is left running.
// It is called once. The error is a *DiedError when the process did not say how the job has ended.
func (r *Running) Wait() (work.End, error) {
	err := <-r.ended
	r.mu.Lock()
	r.state.CompareAndSwap(ready, over) // messages are no longer heard
	told := r.told
	r.mu.Unlock()
	r.cleanUp()
	if told != nil {
		return *told, nil
	}
	return work.End{}, err
}

func (r *Running) cleanUp() {
	r.end()
	for i := len(r.done) - 1; i >= 0; i-- {
		r.done[i]()
	}
}

// ServeHTTP implements http.Handler for the job's process. Models know it by a bearer of their own, which agents can see.
func (r *Running) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	state := r.state.Load()
	switch {
	case state == over:
		http.Error(w, "the job is done", http.StatusGone)
	case state == ready && r.models != nil && strings.HasPrefix(req.URL.Path, work.ModelsPath+"/"):
		http.StripPrefix(work.ModelsPath, r.models).ServeHTTP(w, req)
	case subtle.ConstantTimeCompare([]byte(req.Header.Get("Authorization")), []byte("Bearer "+r.bearer)) != 1:
		http.Error(w, "the job's bearer is missing", http.StatusForbidden)
	default:
		r.see()
		answer, err := any(nil), errNotReady
		if state == ready {
			answer, err = r.answer(req.Context(), req.URL.Path, json.NewDecoder(http.MaxBytesReader(w, req.Body, work.MostSync)))
		}
		switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
		case tooLarge:
			http.Error(w, "the message is too large", http.StatusRequestEntityTooLarge)
		case err != nil:
			http.Error(w, err.Error(), http.StatusLocked)
		default:
			_ = json.NewEncoder(w).Encode(answer) // a process that is gone asks again, or is missed
		}
	}
}

var errNotReady = errors.New("the job is not ready now")

// see notes that the process is there.
func (r *Running) see() {
	select {
	case r.seen <- struct{}{}:
	default:
	}
}

// answer answers the process. After an error it asks again.
func (r *Running) answer(ctx context.Context, path string, asked *json.Decoder) (any, error) {
	switch path {
	case work.OrderPath:
		return r.job.Order, nil
	case work.TokenPath:
		var a work.Ask
		err := asked.Decode(&a)
		if err != nil {
			return nil, err
		}
		token, err := r.tokens.newer(ctx, a.Number)
		if err != nil {
			token = work.Token{Number: a.Number, Problem: err.Error()}
		}
		return token, nil
	case work.SyncPath:
		var s work.Sync
		if err := asked.Decode(&s); err != nil {
			return nil, err
		}
		return r.sync(context.WithoutCancel(ctx), s)
	}
	return nil, fmt.Errorf("%s is nothing that a job can ask for", path)
}

// sync hears the process.
func (r *Running) sync(ctx context.Context, s work.Sync) (work.Synced, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Load() != ready:
		return work.Synced{}, errNotReady
	case s.Heard > r.heard: // an earlier server has heard it
		return work.Synced{Heard: r.heard}, nil
	}
	fresh := slices.DeleteFunc(slices.Clone(s.Messages), func(m work.ToServer) bool { return m.Number <= r.heard })
	if len(fresh) > 0 {
		r.heard = fresh[len(fresh)-1].Number
	}
	words, err := r.job.Hear.Hear(ctx, r, fresh, s.After)
	if n := len(s.Messages); n > 0 && err == nil { // the end is the last message
		r.told = s.Messages[n-1].End
		r.see()
	}
	return work.Synced{Heard: r.heard, Words: words}, err
}

// provide gets what the order is to hold: a token, the models' address, a mirror. address is where the process reaches
// the job, and bearer is of its models. Without mirrors the job fetches everything itself.
func (r *Running) provide(ctx context.Context, mirrors *Mirrors, log func(string, ...any), address, bearer string) (err error) {
	defer func() {
		if err != nil {
			r.cleanUp()
		}
	}()
	tell := func(err error) {
		if err != nil {
			log("%v", err)
		}
	}
	order := &r.job.Order
	r.done = append(r.done, func() {
		if r.state.Load() != away {
			tell(r.tokens.revoke(context.WithoutCancel(ctx)))
		}
	})
	if order.Token, err = r.tokens.newer(ctx, 0); err != nil {
		return err
	}
	var environ []string
	if r.models, environ, err = r.job.Models.open(address+work.ModelsPath, bearer, log); err != nil {
		return err
	}
	if r.models != nil {
		r.done = append(r.done, func() { tell(r.models.Close()) })
	}
	order.Environ = slices.Concat(order.Environ, environ)
	if mirrors != nil {
		remote := git.Remote{URL: order.GitHub.Server + "/" + order.Repository + ".git", Token: order.Token.Value}
		dir, back, failed := mirrors.Borrow(ctx, order.Repository, remote)
		if tell(failed); failed == nil {
			order.Mirror = dir
			r.done = append(r.done, back)
		}
	}
	r.state.Store(ready)
	return nil
}

// Claim is what a server knows of the runner that does a job, also after it was started again.
type Claim struct {
	Nonce string `json:"nonce,omitempty"` // what the request and the bearer of the models are made of; empty: none was started
	Name  string `json:"name,omitempty"`  // of the job on the runner; empty: none has come
	// Keep keeps it; after an error nothing was kept.
	Keep func(Claim) error `json:"-"`
}

// mostTokens is how many tokens one process gets: at one an hour, enough for three days.
const mostTokens = 72

// Times of calls to GitHub.
const (
	makeTime   = 25 * time.Second
	revokeTime = 10 * time.Second
)

// issuer gives one job its tokens, and revokes them at the end.
type issuer struct {
	from  Tokens
	clock func() time.Time

	mu   sync.Mutex // held while a token is made: concurrent callers get that one
	now  work.Token
	made []work.Token
}

// newer is a token that is newer than that of a number: of 0, the first one.
func (i *issuer) newer(ctx context.Context, than int) (work.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if than < i.now.Number {
		return i.now, nil
	}
	if len(i.made) >= mostTokens {
		return work.Token{}, fmt.Errorf("the job has had %d tokens, the maximum", mostTokens)
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	token, err := i.from.Make(ctx)
	if err != nil {
		return work.Token{}, fmt.Errorf("making a token for the job: %w", err)
	}
	token.Number = than + 1 // a server before us may have made more
	i.now, i.made = token, append(i.made, token)
	return token, nil
}

// revoke ends every token that has not ended by itself.
func (i *issuer) revoke(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	var errs []error
	for _, token := range i.made {
		if !token.Ends.IsZero() && i.clock().After(token.Ends) {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, revokeTime)
		if err := i.from.Revoke(soon, token.Value); err != nil {
			errs = append(errs, fmt.Errorf("revoking a token of the job, which ends by itself at %s: %w",
				token.Ends.UTC().Format("15:04 UTC"), err))
		}
		cancel()
	}
	i.made = nil
	return errors.Join(errs...)
}

// values are the tokens that the job has had.
func (i *issuer) values() (out []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, token := range i.made {
		out = append(out, token.Value)
	}
	return out
}

// Process starts each job as a process of this machine. What it leaves is killed, and no other job is harmed.
type Process struct {
	Program string   // ralph itself, an absolute path
	Environ []string // ours, of which the process gets what builds and tools need to find their way
	// Grace is how long an ending process may take for its last commit, push and words.
	Grace   time.Duration
	Mirrors *Mirrors // nil: none are kept
	Log     func(format string, args ...any)
	Clock   func() time.Time
}

// Start starts a job. When ctx ends, the job is handed on: its process ends, and the run can continue in another. The
// error says that there is no process; the caller that gets a Running calls its Wait.
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
		Stdin: in, Stdout: last, Stderr: last, Ending: proc.Ending{Interrupt: p.Grace}}
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
