// Package web shows runs to people in a browser, and takes what they ask for. It shows the rows of the store, and knows
// neither its database nor GitHub: what there is, who may see it and what can be done come through interfaces.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options are what the pages are made with.
type Options struct {
	Runs         Runs
	Lists        Lists
	Repositories Repositories
	Access       Access
	Sessions     Sessions
	SignIn       SignIn
	Actions      Actions
	Setup        Setup
	// Open lets whoever is at this machine read without a sign-in, as a guest. Public must be of this machine alone, and
	// so must be what the server listens on.
	Open bool
	// Public is the address that people open, without a path: "https://ralph.example.com". With https, cookies are sent
	// over it alone. A request for another host is refused.
	Public *url.URL
	GitHub string // "https://github.com"; where links to issues and commits go
	// Version is shown below each page: "1.4.0"; empty: nothing.
	Version string
	Clock   func() time.Time
	Log     *slog.Logger
}

// Server answers browsers. It is safe for concurrent use.
type Server struct {
	Options
	streams streams
	signIns tries
	setup   atomic.Pointer[setupDoor]
	handler http.Handler
	cookie  string // the name of the session's cookie
	secure  bool
	alone   *alone          // one run and nothing else; nil: there are all
	over    context.Context // ends when there is nothing more to come
	finish  func()          // ends over
}

func newServer(o Options) (*Server, error) {
	if o.Public == nil || o.Public.Host == "" || strings.Trim(o.Public.Path, "/") != "" {
		return nil, fmt.Errorf("the address of the pages is %q; give one without a path, like https://ralph.example.com",
			o.Public)
	}
	if o.Open && !Loopback(o.Public.Hostname()) {
		return nil, fmt.Errorf("pages that are open to everyone cannot be at %s: only this machine may reach them",
			o.Public.Host)
	}
	s := &Server{Options: o, secure: o.Public.Scheme == "https", streams: streams{all: map[*stream]bool{}}}
	s.over, s.finish = context.WithCancel(context.Background())
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the streams, of which each would otherwise last as long as its reader: http.Server.Shutdown does not.
func (s *Server) Close() { s.streams.end(func(*stream) bool { return true }) }

// prefixed is the name of a cookie. Where the browser can hold others to it, it says that the cookie is this host's.
func (s *Server) prefixed(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// routes are all there are. Nothing is answered that is not here, and no one is asked again behind it.
var routes = []route{
	{"GET /{$}", signedIn, (*asked).now},
	{"GET /runs/{run}", outsider, (*asked).runPage},
	{"GET /runs/{run}/live", reader, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, (*asked).prompt},
	{"POST /runs/{run}/stop", writer, action(Stop)},
	{"POST /runs/{run}/retry", writer, action(Retry)},
	{"POST /runs/{run}/hint", writer, action(Hint)},
	{"POST /runs/{run}/approve", writer, action(Approve)},
	{"GET /repositories", signedIn, (*asked).repositories},
	{"GET /repositories/{owner}/{name}", outsider, (*asked).repositoryPage},
	{"GET /deliveries", signedIn, (*asked).deliveries},
	{"GET /deliveries/{delivery}", reader, (*asked).deliveryPage},
	{"POST /deliveries/{delivery}/redeliver", writer, action(Redeliver)},
	{"GET /spend", signedIn, (*asked).spend},
	{"GET /audit", signedIn, (*asked).audit},
	{"GET /setup", settingUp, (*asked).setupPage},
	{"GET /setup/created", settingUp, (*asked).created},
	{"GET /setup/code", anybody, (*asked).codePage},
	{"POST /setup/code", anybody, (*asked).redeem},
	{"POST /setup/secret", operator, (*asked).rotateSecret},
	{"GET /sign-in", anybody, (*asked).signInPage},
	{"GET /sign-in/github", anybody, (*asked).beginSignIn},
	{"GET /sign-in/callback", anybody, (*asked).endSignIn},
	{"POST /sign-out", anybody, (*asked).signOut},
	{"POST /sign-out/everywhere", signedIn, (*asked).signOutEverywhere},
	{"GET /static/{file}", anybody, (*asked).static},
}

// New makes the pages. It reads nothing yet.
func New(o Options) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	s.cookie = s.prefixed("ralph")
	s.handler = s.guarded(routes)
	return s, nil
}
