// Package web shows runs to people in a browser, and takes what they ask for. It knows neither databases nor GitHub:
// what it shows, who may see it and what can be done come through interfaces.
package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options are what the pages are made with.
type Options struct {
	Source   Source
	Access   Access
	Sessions Sessions
	SignIn   SignIn  // nil: no one can sign in until the setup is done
	Actions  Actions // nil: nothing can be done on these pages
	Setup    Setup   // nil: there is none
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
	streams *streams
	signIns tries
	setup   *setupDoor
	handler http.Handler
	cookie  string // the name of the session's cookie
	secure  bool
	alone   *alone // one run and nothing else; nil: there are all
	over    chan struct{}
	finish  func() // closes over: there is nothing more to come
}

func newServer(o Options) (*Server, error) {
	if o.Public == nil || o.Public.Host == "" || strings.Trim(o.Public.Path, "/") != "" {
		return nil, fmt.Errorf("the address of the pages is %q; give one without a path, like https://ralph.example.com",
			o.Public)
	}
	if o.Open && !Loopback(o.Public.Hostname()) {
		return nil, fmt.Errorf("pages that are open to everybody cannot be at %s: only this machine may reach them",
			o.Public.Host)
	}
	if o.GitHub == "" {
		o.GitHub = "https://github.com"
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, secure: o.Public.Scheme == "https", streams: newStreams()}
	s.setup = &setupDoor{clock: o.Clock}
	s.over = make(chan struct{})
	s.finish = sync.OnceFunc(func() { close(s.over) })
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the streams, of which each would otherwise last as long as its reader: http.Server.Shutdown does not.
func (s *Server) Close() { s.streams.endAll() }

// prefixed is the name of a cookie. Where the browser can hold others to it, it says that the cookie is this host's.
func (s *Server) prefixed(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}
