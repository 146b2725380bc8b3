// Package gateway is a proxy for what one turn asks its model. It alone holds the credential: the agent shows a bearer
// that counts for the turn. It counts what the answers took, and can refuse.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

// Options are what a turn may ask, and where it asks.
type Options struct {
	// Upstreams are by the first part of a request's path; "" is for what begins with none of the others.
	Upstreams map[string]Upstream
	// Allow is asked before a request is passed on, by several at a time. The text of its error is what the agent is
	// told; nil: all may pass.
	Allow  func(spent []Usage) error
	Prices Prices                           // zero: List
	Log    func(format string, args ...any) // never what is in a request or an answer; nil: nobody wants to know
	// Proxy leads to a provider; nil: HTTPS_PROXY, HTTP_PROXY and NO_PROXY of our environment say.
	Proxy func(*url.URL) (*url.URL, error)
}

// Turn is the gateway of one turn.
type Turn struct {
	allow    func(spent []Usage) error
	limits   limits
	bearer   string
	ways     map[string]*upstream
	ledger   *usageTotals
	listener net.Listener
	server   *http.Server
	tell     func(format string, args ...any)

	stop  context.CancelFunc
	free  func()         // connections to providers that are not used
	alive sync.WaitGroup // the server, and each of its connections
	once  sync.Once
}

// mostTold is how many lines a turn may add to the log: an agent decides how often something fails.
const mostTold = 20

// Open begins to listen.
func Open(o Options) (*Turn, error) { return open(o, usual) }

func open(o Options, l limits) (*Turn, error) {
	for name, up := range o.Upstreams {
		if up.Base == nil || up.Base.Host == "" || up.Base.Scheme != "http" && up.Base.Scheme != "https" {
			return nil, fmt.Errorf("opening the gateway: the provider %q has no address of http or https", name)
		}
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the gateway: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	transport := newTransport(o.Proxy, l)
	t := &Turn{allow: o.Allow, limits: l, bearer: "ralph-turn-" + hex.EncodeToString(secret), listener: listener,
		ways: map[string]*upstream{}, ledger: newLedger(o.Prices), tell: few(o.Log), stop: stop,
		free: transport.CloseIdleConnections}
	for name, up := range o.Upstreams {
		t.ways[name] = newWay(up, t.bearer, transport, l, t.tell)
	}
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: l.head, MaxHeaderBytes: l.header,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				t.alive.Add(1)
			case http.StateClosed:
				t.alive.Done()
			}
		}}
	t.alive.Go(func() { _ = t.server.Serve(netutil.LimitListener(listener, l.together)) })
	return t, nil
}

// few passes on so many lines, and then none.
func few(log func(string, ...any)) func(string, ...any) {
	var told atomic.Int64
	return func(format string, args ...any) {
		if n := told.Add(1); log != nil && n <= mostTold {
			log(format, args...)
		}
	}
}

// URL is where the agent reaches the gateway. With a socket the host in it is nobody's.
func (t *Turn) URL() string {
	if t.listener.Addr().Network() == "unix" {
		return "http://ralph.invalid"
	}
	return "http://" + t.listener.Addr().String()
}

// Bearer is by what the gateway knows the agent.
func (t *Turn) Bearer() string { return t.bearer }

// Addr is where it listens.
func (t *Turn) Addr() net.Addr { return t.listener.Addr() }

// Usage is what the turn took until now, by model.
func (t *Turn) Usage() []Usage { return t.ledger.usage() }

// Close cuts what runs, and waits until it has ended. Nothing is carried afterwards.
func (t *Turn) Close() error {
	var err error
	t.once.Do(func() {
		t.stop()
		err = t.server.Close()
		if errors.Is(err, net.ErrClosed) { // by whoever opened it
			err = nil
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			t.alive.Wait()
		}()
		select {
		case <-ended:
		case <-time.After(t.limits.close):
			err = errors.Join(err, errors.New("closing the gateway: a request does not end"))
		}
		t.free()
	})
	return err
}

// ServeHTTP implements http.Handler.
func (t *Turn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/") {
		respond(w, http.StatusForbidden, "text/plain; charset=utf-8", "ralph: this is no proxy for other hosts")
		return
	}
	to, path := t.route(r.URL.EscapedPath())
	if to == nil {
		notFound(w)
		return
	}
	if r.Header.Get("Upgrade") != "" { // codex asks by POST, or not at all, once it was told
		respond(w, http.StatusUpgradeRequired, "text/plain; charset=utf-8", "ralph: only plain HTTP requests are carried")
		return
	}
	c, ok := gate(r.Method, path, to.Protocols)
	if !ok || strings.Contains(path, t.bearer) { // as a model's name
		notFound(w)
		return
	}
	query, err := sift(r.URL.RawQuery, t.bearer)
	switch {
	case err != nil:
		refuse(w, c.protocol, err.Error())
		return
	case !shown(r.Header, t.bearer):
		refuse(w, c.protocol, "ralph: this request does not show the bearer of the turn that runs")
		return
	case r.ContentLength > t.limits.body:
		fail(w, c.protocol, http.StatusRequestEntityTooLarge, fmt.Sprintf("ralph: the request is larger than %d bytes",
			t.limits.body))
		return
	}
	if t.allow != nil {
		if err := t.allow(t.Usage()); err != nil {
			refuse(w, c.protocol, err.Error())
			return
		}
	}
	t.pass(w, r, to, requestInfo{call: c, query: query, path: path, keys: to.keys,
		shown: to.keys.now()})
}

// pass has a request answered by its provider.
func (t *Turn) pass(w http.ResponseWriter, r *http.Request, to *upstream, a requestInfo) {
	a.account = &account{ledger: t.ledger, tally: tally{protocol: a.protocol, asked: a.model}}
	ctx, cut := context.WithCancelCause(r.Context())
	defer cut(nil)
	a.cut = cut
	r = r.WithContext(context.WithValue(ctx, askingKey{}, a))
	if r.Method == http.MethodGet {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Body = newRequest(http.MaxBytesReader(w, r.Body, t.limits.body), a.account)
	}
	to.proxy.ServeHTTP(w, r)
}

// route is the way that a path leads, and what is left of the path there.
func (t *Turn) route(path string) (*upstream, string) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if to := t.ways[name]; to != nil && name != "" {
		return to, "/" + rest
	}
	return t.ways[""], path
}

func notFound(w http.ResponseWriter) {
	respond(w, http.StatusNotFound, "text/plain; charset=utf-8",
		"ralph: only what a model is asked is carried here, and this path is nothing of that")
}
