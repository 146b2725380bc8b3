package launch

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/work"
)

// Runners starts each job as one of a workflow of GitHub Actions. The job connects to this server, proves that it is of
// that workflow, and is then spoken to as a process of this machine is. A job whose connection breaks, or whose server
// is started anew, goes on once it has connected again.
type Runners struct {
	Address  string // of this server: "https://ralph.example.com"
	Key      []byte // what requests are made of; the same after every start of the server
	Workflow Workflow
	Patience time.Duration // for how long a job that has connected may be without a connection; 0 is four minutes
	Log      func(format string, args ...any)
	Clock    func() time.Time

	mu    sync.Mutex
	seats map[string]*seat // by request
}

// Workflow starts jobs on runners, and knows them again.
type Workflow interface {
	// Start starts a job that brings the request back. A *RefusedError says that it did not; after any other error it may
	// have, and the request can be started again.
	Start(ctx context.Context, request string) error
	// Job is the name of the job that a token of GitHub Actions is of; the error says why that job is not one of ours.
	Job(ctx context.Context, token string) (string, error)
}

// RefusedError explains why no job can be started on a runner, and what to do.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// Claim is what a server knows of the runner that does a job, also after it was started anew.
type Claim struct {
	Nonce string `json:"nonce,omitempty"` // what the request and the bearer of the models are made of; empty: none was started
	Name  string `json:"name,omitempty"`  // of the job on the runner; empty: none has connected
	// Keep keeps it; after an error nothing was kept.
	Keep func(Claim) error `json:"-"`
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
	keepLeft      = 10 * time.Minute
)

// seat is the place of one job's runner.
type seat struct {
	request string
	conns   chan net.Conn

	mu     sync.Mutex
	claim  Claim
	shown  map[string]bool // tokens
	taken  bool            // there is a connection
	left   bool            // nobody is wanted any more
	models http.Handler    // nil: there are none now
}

// ErrUnwanted is why the context of an unwanted job ends: a runner that still comes is sent away.
var ErrUnwanted = errors.New("no one wants the job any more")

// Start starts a job. It returns when a runner has connected, which may take an hour, or ctx ends. A *RefusedError says
// that no runner can be asked; any other that none has come.
func (n *Runners) Start(ctx context.Context, job Job) (*Running, error) {
	s, conn, err := n.seated(ctx, job.Claim)
	if err != nil {
		return nil, err
	}
	order := &job.Order
	order.Workspace, order.AgentUser = "", "" // those of this machine
	r, err := prepare(ctx, job, setting{log: n.Log, clock: n.Clock},
		gate{n.Address + work.RunnersPath + s.request, n.secret(s.claim, "models")})
	if err != nil {
		n.leave(s, conn)
		return nil, err
	}
	if r.models != nil {
		s.serve(r.models)
	}
	r.to.Send(work.ToProcess{Order: &r.job.Order})
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	r.end = end
	go n.follow(running, r, s, conn)
	return r, nil
}

// seated has a job started on a runner, and waits for it. One that worked before this server was started comes back by
// itself.
func (n *Runners) seated(ctx context.Context, c Claim) (s *seat, conn net.Conn, err error) {
	if c.Name != "" {
		s = n.seat(c)
		if conn = n.next(ctx, s, n.patience()); conn == nil && ctx.Err() == nil {
			n.leave(s, nil)
			c.Nonce, c.Name = "", ""
		}
	}
	if ctx.Err() == nil && c.Nonce == "" {
		c.Nonce = rand.Text()
		err = c.Keep(c)
	}
	if err == nil && ctx.Err() == nil && conn == nil {
		s = n.seat(c)
		conn, err = n.call(ctx, s)
	}
	if conn != nil {
		return s, conn, nil
	}
	if s != nil && errors.Is(context.Cause(ctx), ErrUnwanted) {
		n.leave(s, nil)
	} else if s != nil {
		n.forget(s)
	}
	return nil, nil, cmp.Or(context.Cause(ctx), err)
}

// call starts a job until one has connected. Whichever comes first is the one: others are turned away.
func (n *Runners) call(ctx context.Context, s *seat) (net.Conn, error) {
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		err := n.Workflow.Start(ctx, s.request)
		if refused := (*RefusedError)(nil); errors.As(err, &refused) {
			return nil, err
		}
		wait := joinTime
		if err != nil {
			n.Log("starting a job on a runner: %v", err)
			wait = pause
		}
		switch conn := n.next(ctx, s, wait); {
		case conn != nil:
			return conn, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			return nil, fmt.Errorf("no runner has taken the job for %s; look whether there are any, and at the Actions tab of "+
				"the runner repository", joinTime)
		}
	}
}

// next is the next connection of a job; nil: there is none in time.
func (n *Runners) next(ctx context.Context, s *seat, within time.Duration) net.Conn {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case conn := <-s.conns:
		return conn
	case <-ctx.Done():
	case <-late.C:
	}
	return nil
}

// follow hears a job over each of its connections. When ctx ends, the job is left to the next server.
func (n *Runners) follow(ctx context.Context, r *Running, s *seat, conn net.Conn) {
	over := ended{how: "no longer connects"}
	for conn != nil {
		r.conn = conn
		r.to.Attach(conn)
		hangUp := context.AfterFunc(ctx, func() { _ = conn.Close() })
		r.hear(context.WithoutCancel(ctx))
		hangUp()
		_ = conn.Close()
		if r.over() || ctx.Err() != nil {
			break
		}
		s.free()
		conn = n.next(ctx, s, n.patience())
	}
	if ctx.Err() != nil && !r.over() {
		r.mu.Lock()
		r.told = &work.End{HandedOn: true} // to the next server, which the job looks for
		r.mu.Unlock()
		r.tokens.leave()
		n.forget(s)
	} else {
		n.leave(s, conn)
	}
	close(r.heard)
	r.ended <- over
}

// over reports whether nothing more comes of the process.
func (r *Running) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told != nil || r.problem != nil
}

func (n *Runners) patience() time.Duration { return cmp.Or(n.Patience, usualPatience) }

// seat makes the place of a job.
func (n *Runners) seat(c Claim) *seat {
	s := &seat{request: n.secret(c, "request"), claim: c, conns: make(chan net.Conn, 1), shown: map[string]bool{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seats == nil {
		n.seats = map[string]*seat{}
	}
	n.seats[s.request] = s
	return s
}

// leave ends a job's place. Who still comes is sent away for good.
func (n *Runners) leave(s *seat, conn net.Conn) {
	s.mu.Lock()
	s.left, s.models = true, nil
	if err := s.claim.Keep(Claim{}); err != nil {
		n.Log("forgetting a runner: %v", err)
	}
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
	time.AfterFunc(keepLeft, func() { n.forget(s) })
}

// forget knows nothing more of a job's place.
func (n *Runners) forget(s *seat) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.seats, s.request)
}

// ServeHTTP is what jobs on runners ask for: their connection, and their models.
func (n *Runners) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, path, models := strings.Cut(strings.TrimPrefix(r.URL.Path, work.RunnersPath), "/")
	n.mu.Lock()
	s := n.seats[request]
	n.mu.Unlock()
	switch {
	case s == nil:
		http.Error(w, "this server has no such job", http.StatusNotFound)
	case models:
		s.ask(w, r, "/"+path)
	default:
		n.join(w, r, s)
	}
}

// join lets a job in.
func (n *Runners) join(w http.ResponseWriter, r *http.Request, s *seat) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	name, err := n.Workflow.Job(r.Context(), token)
	if err != nil {
		n.Log("a job on a runner is refused: %v", err)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if status, why := s.take(name, token); why != "" {
		http.Error(w, why, status)
		return
	}
	conn, err := work.AcceptRunner(w, r)
	if err != nil {
		s.free()
		return
	}
	n.Log("a runner has connected: %s", name)
	s.conns <- conn // there is room: the place was free
}

// take has a job take the place; why says that it cannot.
func (s *seat) take(name, token string) (status int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.left:
		return http.StatusGone, "the job is done"
	case s.claim.Name != "" && s.claim.Name != name:
		return http.StatusConflict, "another runner does the job"
	case s.shown[token]:
		return http.StatusForbidden, "the token was used before"
	case s.taken:
		return http.StatusLocked, "the job is connected"
	}
	claim := s.claim
	claim.Name = name
	if err := claim.Keep(claim); err != nil {
		return http.StatusServiceUnavailable, "this server cannot note now which runner does the job"
	}
	s.claim, s.taken, s.shown[token] = claim, true, true
	return 0, ""
}

// free lets the job connect again.
func (s *seat) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = false
}

// serve lets the job ask its models.
func (s *seat) serve(models http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = models
}

// ask asks the job's models, which know it by its bearer.
func (s *seat) ask(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	models := s.models
	s.mu.Unlock()
	if models == nil {
		http.Error(w, "the job is not connected", http.StatusServiceUnavailable)
		return
	}
	http.StripPrefix(strings.TrimSuffix(r.URL.Path, path), models).ServeHTTP(w, r)
}
