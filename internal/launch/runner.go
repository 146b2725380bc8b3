package launch

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/work"
)

// Runners starts each job as one of a workflow of GitHub Actions. The job connects to this server, proves that it is of
// that workflow, and is then spoken to as a process of this machine is. A job whose connection breaks, or whose server
// is started again, continues once it has connected again.
type Runners struct {
	Address  string // of this server: "https://ralph.example.com"
	Key      []byte // what requests are made of; the same after every start of the server
	Workflow *github.Workflow
	App      func(ctx context.Context) (*github.App, error)
	Patience time.Duration // for how long a job that has come may ask for nothing; 0 is four minutes
	Log      func(format string, args ...any)
	Clock    func() time.Time

	seats sync.Map // of *Running, by request
}

// secret is what only this server can make of a claim: 256 bits.
func (n *Runners) secret(c Claim, what string) string {
	sum := hmac.New(sha256.New, n.Key)
	_, _ = sum.Write([]byte(what + " " + c.Nonce)) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)))
}

const (
	usualPatience = 4 * time.Minute
	joinTime      = time.Hour // how long a job may wait for a runner
	leastPause    = time.Second
	mostPause     = time.Minute // between two tries to start a job
	keepOver      = 10 * time.Minute
)

// ErrUnwanted is why the context of an unwanted job ends: a runner that still comes is sent away.
var ErrUnwanted = errors.New("the job is no longer needed")

// Start starts a job. It returns when a runner has come, which may take an hour, or ctx ends. A *github.DispatchError
// says that no runner can be asked; any other that no runner has come.
func (n *Runners) Start(ctx context.Context, job Job) (*Running, error) {
	job.Order.Workspace, job.Order.AgentUser = "", "" // those of this machine
	r, err := n.seated(ctx, job)
	if err != nil {
		return nil, err
	}
	n.Log("a runner has connected for the job %s", job.Order.Job)
	request := n.secret(r.job.Claim, "request")
	if err := r.provide(ctx, nil, n.Log, n.Address+work.RunnersPath+request, n.secret(r.job.Claim, "models")); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ErrUnwanted) { // the job looks for the next server
			n.forget(r)
			return nil, cause
		}
		n.leave(r)
		return nil, err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	r.end = end
	go n.follow(running, r)
	return r, nil
}

// seated has a job started on a runner, and waits for it. One that worked before this server was started comes back by
// itself.
func (n *Runners) seated(ctx context.Context, job Job) (r *Running, err error) {
	defer func() {
		switch {
		case err == nil || r == nil:
		case errors.Is(context.Cause(ctx), ErrUnwanted):
			n.leave(r)
		default:
			n.forget(r)
		}
	}()
	if job.Claim.Name != "" {
		r = n.seat(job)
		if n.asked(ctx, r, n.patience()) || ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		n.leave(r)
		r = nil
		job.Claim.Nonce, job.Claim.Name = "", ""
	}
	if job.Claim.Nonce == "" {
		job.Claim.Nonce = rand.Text()
		if err := job.Claim.Keep(job.Claim); err != nil {
			return nil, err
		}
	}
	r = n.seat(job)
	return r, n.call(ctx, r)
}

// call starts a job until one has come. Whichever comes first is the one: others are turned away.
func (n *Runners) call(ctx context.Context, r *Running) error {
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		app, err := n.App(ctx)
		if err == nil {
			err = n.Workflow.Start(ctx, app, map[string]any{"request": n.secret(r.job.Claim, "request")})
		}
		if _, refused := errors.AsType[*github.DispatchError](err); refused {
			return err
		}
		wait := joinTime
		if err != nil {
			n.Log("starting a job on a runner: %v", err)
			wait = pause
		}
		switch {
		case n.asked(ctx, r, wait):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			return fmt.Errorf("no runner has taken the job for %s; look whether there are any, and at the Actions tab of "+
				"the runner repository", joinTime)
		}
	}
}

// asked reports whether the runner asks for something in time.
func (n *Runners) asked(ctx context.Context, r *Running, within time.Duration) bool {
	select {
	case <-r.seen:
		return true
	case <-ctx.Done():
	case <-time.After(within):
	}
	return false
}

// follow waits until a job has ended, or no longer asks for anything. When ctx ends, it is left to the next server.
func (n *Runners) follow(ctx context.Context, r *Running) {
	told := false
	for here := true; here && !told; {
		here = n.asked(ctx, r, n.patience())
		r.mu.Lock()
		if told = r.told != nil; !told && ctx.Err() != nil { // the job looks for the next server
			r.told = &work.End{HandedOn: true}
			r.state.Store(away)
		}
		here = here && ctx.Err() == nil
		r.mu.Unlock()
	}
	if ctx.Err() != nil && !told {
		n.forget(r)
	} else {
		n.leave(r)
	}
	r.ended <- &DiedError{How: "no longer connects"}
}

func (n *Runners) patience() time.Duration { return cmp.Or(n.Patience, usualPatience) }

// seat registers a job, by its claim.
func (n *Runners) seat(job Job) *Running {
	r := newRunning(job, n.secret(job.Claim, "job"), n.Clock)
	n.seats.Store(n.secret(job.Claim, "request"), r)
	return r
}

// leave ends a job's place. Who still comes is sent away for good.
func (n *Runners) leave(r *Running) {
	r.state.Store(over)
	if err := r.job.Claim.Keep(Claim{}); err != nil {
		n.Log("forgetting a runner: %v", err)
	}
	time.AfterFunc(keepOver, func() { n.forget(r) })
}

// forget knows nothing more of a job's place.
func (n *Runners) forget(r *Running) {
	n.seats.Delete(n.secret(r.job.Claim, "request"))
}

// ServeHTTP is what jobs on runners ask for.
func (n *Runners) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	request, path, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, work.RunnersPath), "/")
	found, _ := n.seats.Load(request)
	r, is := found.(*Running)
	switch {
	case !is:
		http.Error(w, "this server has no such job", http.StatusNotFound)
	case path == "":
		n.join(w, req, r)
	default:
		http.StripPrefix(work.RunnersPath+request, r).ServeHTTP(w, req)
	}
}

// join gives a job of the workflow the bearer.
func (n *Runners) join(w http.ResponseWriter, req *http.Request, r *Running) {
	token, name := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "), ""
	app, err := n.App(req.Context())
	if err == nil {
		name, err = n.Workflow.Job(req.Context(), app, token)
	}
	if err != nil {
		n.Log("a job on a runner is refused: %v", err)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if status, why := r.take(name, token); why != "" {
		http.Error(w, why, status)
		return
	}
	_ = json.NewEncoder(w).Encode(r.bearer) // a job that does not hear it asks again
}

// take has a job take the place; why says that it cannot.
func (r *Running) take(name, token string) (status int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Load() == over:
		return http.StatusGone, "the job is done"
	case r.name != "" && r.name != name:
		return http.StatusConflict, "another runner does the job"
	case r.shown[token]:
		return http.StatusForbidden, "the token was used before"
	}
	claim := r.job.Claim
	claim.Name = name
	if err := claim.Keep(claim); err != nil {
		return http.StatusLocked, "this server cannot note now which runner does the job"
	}
	r.name, r.shown[token] = name, true
	r.see()
	return 0, ""
}
