// Package launch is the server's side of a job: it has a process do it, gives that tokens, models and a mirror, answers
// what it asks, and cleans up after it.
package launch

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/work"
)

// Job is one job, and what the server does for it.
type Job struct {
	// Order is what the process is told. Token, Mirror and the models' part of Environ are filled in here.
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
	ended  chan error    // from whoever waits for the process: a *DiedError, or why that cannot be said
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

// Metered reports whether the job's models are spoken to through the server, so that Usage knows what they take.
func (r *Running) Metered() bool { return r.models != nil }

// Usage is what the job's models have taken so far, by model.
func (r *Running) Usage() []gateway.Usage {
	if r.models == nil {
		return nil
	}
	return r.models.Usage()
}

// Wait waits for the end of the process and cleans up after it: its tokens are revoked, nothing of it is left running.
// It is called once. The error is a *DiedError when the process did not say how the job has ended.
func (r *Running) Wait() (work.End, error) {
	err := <-r.ended
	r.mu.Lock()
	r.state.CompareAndSwap(ready, over) // nothing is heard any more
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
		switch tooLarge := (*http.MaxBytesError)(nil); {
		case errors.As(err, &tooLarge):
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

// provide gets what the order is to hold: a token, the models' address, a mirror. address is where the process reaches the
// job, and bearer is of its models. Without mirrors the job fetches everything itself.
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
