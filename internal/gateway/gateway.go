// Package gateway is a proxy for the requests of one turn to its model. It alone holds the credential: the agent shows a
// bearer that counts for the turn.
package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Protocol is how a model is spoken to.
type Protocol string

// The protocols. Gemini's paths are also those of Vertex.
const (
	Anthropic Protocol = "anthropic"
	Responses Protocol = "openai-responses"
	Chat      Protocol = "openai-chat"
	Gemini    Protocol = "gemini"
)

// Credential is a header by which a provider knows whom it answers: {"x-api-key", KEY}.
type Credential struct{ Header, Value string }

// Upstream is a provider.
type Upstream struct {
	Base        *url.URL // what the path of a request is added to
	Credentials []Credential
	Extra       http.Header // added to each request
	Protocols   []Protocol  // what may be spoken there
}

// Options are what a turn may ask.
type Options struct {
	// Upstreams are by the first part of a request's path; "" is the only one.
	Upstreams map[string]Upstream
	// Allow is asked before a request is passed on. The text of its error is what the agent is told; nil: all may pass.
	Allow  func(spent []Usage) error
	Prices Prices
	Log    func(format string, args ...any) // never what is in a request or an answer; nil: nobody wants to know
	Socket string                           // the path of a unix socket to listen at; "" is a port of 127.0.0.1
}

// Times that bound a request. An answer may take as long as the turn.
const (
	headerTime = 30 * time.Second
	dialTime   = 30 * time.Second
	closeTime  = 5 * time.Second
	// mostBody is how large a request may be.
	mostBody = 256 << 20
)

// Turn is the gateway of one turn.
type Turn struct {
	o        Options
	bearer   string
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	done     chan struct{}
	proxies  map[string]*httputil.ReverseProxy

	mu    sync.Mutex
	used  []Usage // by model
	close sync.Once
}

// Open begins to listen.
func Open(o Options) (*Turn, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("making the turn's bearer: %w", err)
	}
	network, address := "tcp4", "127.0.0.1:0"
	if o.Socket != "" {
		network, address = "unix", o.Socket
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("opening the gateway: %w", err)
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	t := &Turn{o: o, bearer: "ralph-turn-" + hex.EncodeToString(secret), listener: l, stop: stop,
		done: make(chan struct{}), proxies: map[string]*httputil.ReverseProxy{}}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression, transport.ResponseHeaderTimeout = true, 0
	transport.DialContext = (&net.Dialer{Timeout: dialTime}).DialContext
	for name, up := range o.Upstreams {
		t.proxies[name] = t.proxy(up, transport)
	}
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: headerTime, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(t.done)
		_ = t.server.Serve(l)
		transport.CloseIdleConnections()
	}()
	return t, nil
}

// URL is where the agent reaches the gateway.
func (t *Turn) URL() string { return "http://" + t.listener.Addr().String() }

// Bearer is by what it knows the agent.
func (t *Turn) Bearer() string { return t.bearer }

// Addr is where it listens.
func (t *Turn) Addr() net.Addr { return t.listener.Addr() }

// Usage is what the answers said so far, by model.
func (t *Turn) Usage() []Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Usage(nil), t.used...)
}

// Close cuts what runs, and waits for it.
func (t *Turn) Close() error {
	var err error
	t.close.Do(func() {
		t.stop()
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err = t.server.Shutdown(ctx); err != nil {
			err = t.server.Close()
		}
		<-t.done
	})
	return err
}

// credentials are the headers by which clients show one. None of them is passed on.
var credentials = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization"}

func (t *Turn) knows(r *http.Request) bool {
	shown := []string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	for _, name := range credentials[1:4] {
		shown = append(shown, r.Header.Get(name))
	}
	known := 0
	for _, s := range shown {
		known |= subtle.ConstantTimeCompare([]byte(s), []byte(t.bearer))
	}
	return known == 1
}

// ServeHTTP implements http.Handler.
func (t *Turn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		http.Error(w, "ralph: this is no proxy for other hosts", http.StatusForbidden)
		return
	}
	name, path := t.route(r.URL.Path)
	up, ok := t.o.Upstreams[name]
	protocol := speaks(r.Method, path)
	if !ok || protocol == "" || !has(up.Protocols, protocol) {
		http.Error(w, "ralph: nothing but requests to the model is carried", http.StatusNotFound)
		return
	}
	if r.Header.Get("Upgrade") != "" {
		http.Error(w, "ralph: plain HTTP is carried", http.StatusUpgradeRequired)
		return
	}
	if !t.knows(r) {
		refuse(w, protocol, "ralph: this is not the bearer of the turn that runs")
		return
	}
	if t.o.Allow != nil {
		if err := t.o.Allow(t.Usage()); err != nil {
			refuse(w, protocol, err.Error())
			return
		}
	}
	r.URL.Path, r.URL.RawPath = path, ""
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	t.proxies[name].ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), asked{}, protocol)))
}

// route is the provider that a path leads to, and the path there.
func (t *Turn) route(path string) (name, rest string) {
	if _, only := t.o.Upstreams[""]; only {
		return "", path
	}
	name, rest, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name, "/" + rest
}

func has(list []Protocol, p Protocol) bool {
	for _, known := range list {
		if known == p {
			return true
		}
	}
	return false
}

// asked is the key of a request's context under which its protocol is.
type asked struct{}

var errRedirect = errors.New("the model's provider leads to another address, which is not followed")

func (t *Turn) proxy(up Upstream, transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(up.Base)
			for _, name := range append(credentials, "Accept-Encoding") {
				p.Out.Header.Del(name)
			}
			query := p.Out.URL.Query()
			query.Del("key")
			p.Out.URL.RawQuery = query.Encode()
			for name, values := range up.Extra {
				for _, value := range values {
					p.Out.Header.Add(name, value)
				}
			}
			for _, c := range up.Credentials {
				p.Out.Header.Set(c.Header, c.Value)
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode >= 300 && r.StatusCode < 400 {
				return errRedirect
			}
			protocol, _ := r.Request.Context().Value(asked{}).(Protocol)
			if r.StatusCode < 300 {
				r.Body = &meter{ReadCloser: r.Body, turn: t, protocol: protocol, model: modelOf(r.Request.URL.Path)}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				t.o.Log("gateway: asking the model: %v", err)
			}
			http.Error(w, fmt.Sprintf("ralph: asking the model: %v", err), http.StatusBadGateway)
		},
	}
}

// refuse answers so that the agent stops at once, in the form of its protocol.
func refuse(w http.ResponseWriter, p Protocol, why string) {
	if p == Responses {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, why)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusPaymentRequired)
	_, _ = io.WriteString(w, refusal(p, why))
}
