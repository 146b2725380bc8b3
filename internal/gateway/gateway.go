// Package gateway is a proxy for what one turn asks its model. It alone holds the credential: the agent shows a bearer
// that counts for the turn. It counts what the answers took, and can refuse.
package gateway

import (
	"bytes"
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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Options are what a turn may ask, and where it asks.
type Options struct {
	// Upstreams are by the first part of a request's path; "" is for what begins with none of the others.
	Upstreams map[string]Upstream
	Limit     Limit
	// Through lists what is passed on although its cost is in no answer or it reaches hosts past the sandbox:
	// "background", "batches", "realtime", "priority", "organization", "url_sources", "mcp_servers", and the kinds of the
	// provider's own tools, such as "web_search".
	Through []string
	Prices  Prices                           // zero: List
	Bearer  string                           // by what the agent is known, hard to guess; empty: a new one
	Log     func(format string, args ...any) // never what is in a request or an answer; nil: no one wants to know
	// Told has what was logged once. Turns of one run share it; nil: this turn has its own.
	Told *sync.Map
	// Proxy leads to a provider; nil: HTTPS_PROXY, HTTP_PROXY and NO_PROXY of our environment say.
	Proxy func(*url.URL) (*url.URL, error)
}

// Turn is the gateway of one turn.
type Turn struct {
	limits   limits
	through  []string
	bodies   atomic.Int64 // bytes of requests that have not ended
	bearer   string
	ways     map[string]*upstream
	ledger   *usageTotals
	listener net.Listener
	server   *http.Server
	tell     func(format string, args ...any)
	told     *sync.Map

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
	if o.Bearer == "" {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
		o.Bearer = "ralph-turn-" + hex.EncodeToString(secret)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the gateway: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	transport := newTransport(o.Proxy, l)
	if o.Told == nil {
		o.Told = &sync.Map{}
	}
	t := &Turn{limits: l, through: o.Through, bearer: o.Bearer, listener: listener,
		ways: map[string]*upstream{}, tell: few(o.Log), told: o.Told, stop: stop, free: transport.CloseIdleConnections}
	t.ledger = newLedger(o.Prices, o.Limit, func(model string) {
		t.tellOnce("price of "+model, "gateway: the price of the model %q is not known, so its tokens are counted and its "+
			"cost is not: name it in the setting prices", model)
	})
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

// URL is where the agent reaches the gateway.
func (t *Turn) URL() string { return "http://" + t.listener.Addr().String() }

// Bearer is by what the gateway knows the agent.
func (t *Turn) Bearer() string { return t.bearer }

// Usage is what the turn took until now. CostUSD is 0 when a price is not known. asked is false when nothing has been
// passed on.
func (t *Turn) Usage() (u loop.Usage, asked bool) { return t.ledger.usage() }

// Refused is why a request was refused because of the limit; "" if none was.
func (t *Turn) Refused() string {
	t.ledger.mu.Lock()
	defer t.ledger.mu.Unlock()
	return t.ledger.refused
}

// Close cuts what runs, and waits until it has ended. Nothing is carried afterwards.
func (t *Turn) Close() error {
	var err error
	t.once.Do(func() {
		t.stop()
		err = t.server.Close()
		if errors.Is(err, net.ErrClosed) { // by its owner
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
	c, ok := gate(r.Method, path, to.Protocols)
	if r.Header.Get("Upgrade") != "" && c.through != "realtime" { // codex asks by POST once it gets this
		respond(w, http.StatusUpgradeRequired, "text/plain; charset=utf-8", "ralph: only plain HTTP requests are carried")
		return
	}
	if !ok || strings.Contains(path, t.bearer) { // as a model's name
		notFound(w)
		return
	}
	query, err := sift(r.URL.RawQuery, t.bearer)
	switch {
	case err != nil:
		refuse(w, c.protocol, err.Error())
	case !shown(r.Header, t.bearer):
		refuse(w, c.protocol, "ralph: this request does not show the bearer of the turn that runs")
	case c.through != "" && !slices.Contains(t.through, c.through):
		refuse(w, c.protocol, fmt.Sprintf("ralph: the cost of %s cannot be counted; do without, or add %[1]q to the setting "+
			"gatewayThrough", c.through))
	default:
		t.pass(w, r, to, requestInfo{call: c, query: query, path: path, keys: to.keys, shown: to.keys.now()})
	}
}

// pass has a request answered by its provider.
func (t *Turn) pass(w http.ResponseWriter, r *http.Request, to *upstream, a requestInfo) {
	a.account = &account{ledger: t.ledger, tally: tally{protocol: a.protocol, asked: a.model}}
	ctx, cut := context.WithCancelCause(r.Context())
	defer cut(nil)
	a.cut = cut
	if a.through == "" && r.Method == http.MethodGet {
		r.Body, r.ContentLength = http.NoBody, 0
	} else if a.through == "" {
		body := &bodyReader{Reader: http.MaxBytesReader(w, r.Body, t.limits.body), held: &t.bodies, most: t.limits.bodies}
		defer body.release()
		asked, ok := t.readBody(w, r, body, a.call)
		if !ok {
			return
		}
		a.account.tally.asked, a.account.asked, a.account.output = asked.model, body.n, asked.output
		if a.counted {
			if err := t.ledger.reserve(ctx, a.account, asked.uncounted); err != nil {
				refuse(w, a.protocol, err.Error())
				return
			}
			defer t.ledger.release(a.account)
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(asked.text)), int64(len(asked.text)), nil
	}
	if !slices.Contains(t.through, "organization") {
		for _, name := range organization {
			if r.Header.Get(name) != "" {
				t.remove("organization")
				r.Header.Del(name)
			}
		}
	}
	to.proxy.ServeHTTP(w, r.WithContext(context.WithValue(ctx, askingKey{}, a)))
}

// readBody reads the body of a request as it may be passed on. It answers the request itself if that is nothing.
func (t *Turn) readBody(w http.ResponseWriter, r *http.Request, body io.Reader, c call) (asked request, ok bool) {
	if how := r.Header.Get("Content-Encoding"); how != "" && !strings.EqualFold(how, "identity") {
		fail(w, c.protocol, http.StatusUnsupportedMediaType, "ralph: the body of this request is encoded; send it plain")
		return asked, false
	}
	text, err := io.ReadAll(body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, errTogether):
		fail(w, c.protocol, http.StatusRequestEntityTooLarge, fmt.Sprintf("ralph: the request is larger than %d bytes, or "+
			"all running requests are larger than %d: send fewer at the same time", t.limits.body, t.limits.bodies))
		return asked, false
	case err != nil:
		fail(w, c.protocol, http.StatusBadRequest, "ralph: the request cannot be read: it was cut")
		return asked, false
	}
	asked, removed, err := readRequest(c, text, t.through)
	for _, what := range removed {
		t.remove(what)
	}
	if err != nil {
		refuse(w, c.protocol, err.Error())
	}
	return asked, err == nil
}

// remove logs once that something has been removed from requests.
func (t *Turn) remove(what string) {
	t.tellOnce(what, "gateway: %s was removed from the requests of the agent: the provider would reach other hosts or count "+
		"for another organization; to pass it on, add %[1]q to the setting gatewayThrough", what)
}

// tellOnce logs a line for the first of those that have a key.
func (t *Turn) tellOnce(key, format string, args ...any) {
	if _, told := t.told.LoadOrStore(key, true); !told {
		t.tell(format, args...)
	}
}

// bodyReader reads a body, and counts its bytes with those of the other requests in held.
type bodyReader struct {
	io.Reader
	held    *atomic.Int64
	n, most int64
}

var errTogether = errors.New("too many bytes are requested at the same time")

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	if b.held.Add(int64(n)) > b.most {
		err = errTogether
	}
	return n, err
}

func (b *bodyReader) release() { b.held.Add(-b.n) }

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
