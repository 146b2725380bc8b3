package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Credential is a header by which a provider knows whom it answers: {"x-api-key", KEY}.
type Credential struct{ Header, Value string }

// Upstream is a provider.
type Upstream struct {
	Base        *url.URL // http or https; the path of a request is added to its path, its query to the request's
	Credentials []Credential
	Extra       http.Header // for each request: anthropic-beta is joined with the request's own, others take its place
	Protocols   []Protocol  // what may be spoken there
	// Renew returns other credentials after the provider has refused these with status 401; false: it has no others.
	// One request at a time calls it. nil: a refusal is the answer.
	Renew func(ctx context.Context, refused []Credential) ([]Credential, bool)
}

// limits bound what waits, and what is read.
type limits struct {
	head, dial time.Duration // until a request's headers are there; until the provider is reached
	wait       time.Duration // until an answer begins: a model may think for long before it does
	idle       time.Duration // between two pieces of an answer
	close      time.Duration // until what runs has ended
	body       int64         // bytes of a request
	bodies     int64         // bytes of all requests that have not ended
	header     int           // bytes of its headers
	together   int           // connections at a time
}

var usual = limits{head: 30 * time.Second, dial: 30 * time.Second, wait: 20 * time.Minute, idle: 15 * time.Minute,
	close: 5 * time.Second, body: 64 << 20, bodies: 256 << 20, header: 64 << 10, together: 256}

// upstream leads to one provider.
type upstream struct {
	Upstream
	keys  *keys
	proxy *httputil.ReverseProxy
}

// requestInfo is what is known of a request that is passed on. It is in the request's context.
type requestInfo struct {
	call
	account *account
	keys    *keys
	shown   *[]Credential // to the provider
	query   url.Values
	path    string
	cut     context.CancelCauseFunc
}

type askingKey struct{}

func askingOf(r *http.Request) requestInfo {
	a, _ := r.Context().Value(askingKey{}).(requestInfo)
	return a
}

var (
	errRedirect = errors.New("the model's provider leads to another address, and that is not followed")
	errEncoded  = errors.New("the model's provider has compressed its answer, although it was asked not to")
	errIdle     = errors.New("nothing came from the model's provider for too long")
)

// newTransport reaches providers. Redirects are never followed by it.
func newTransport(via func(*url.URL) (*url.URL, error), l limits) *http.Transport {
	if via == nil {
		via = httpproxy.FromEnvironment().ProxyFunc()
	}
	return &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return via(r.URL) },
		DialContext:           (&net.Dialer{Timeout: l.dial, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   l.dial,
		ResponseHeaderTimeout: l.wait,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: time.Minute, PingTimeout: l.dial},
		DisableCompression:    true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		ReadBufferSize:        bufferSize,
	}
}

// bufferSize is what is read at once. Each piece costs four system calls, so a fast stream wants large ones.
const bufferSize = 256 << 10

// buffers are what answers are copied by.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }

// newWay makes the way to a provider. tell is for the log.
func newWay(up Upstream, bearer string, transport http.RoundTripper, l limits, tell func(string, ...any)) *upstream {
	base := *up.Base
	if up.Base = &base; base.Path != "" && base.Path[0] != '/' { // as URL.JoinPath leaves it
		base.Path, base.RawPath = "/"+base.Path, ""
	}
	return &upstream{Upstream: up, keys: &keys{renew: up.Renew, held: &up.Credentials}, proxy: &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, BufferPool: &buffers{},
		ErrorLog:       log.New(io.Discard, "", 0), // it would have addresses
		Rewrite:        func(p *httputil.ProxyRequest) { up.rewrite(p, bearer) },
		ModifyResponse: func(r *http.Response) error { return look(r, l, tell) },
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			failed(w, r, err, tell)
		},
	}}
}

// rewrite makes the request that the provider gets.
func (up Upstream) rewrite(p *httputil.ProxyRequest, bearer string) {
	a, out := askingOf(p.In), p.Out
	out.URL.Path, out.URL.RawPath, out.URL.RawQuery = a.path, "", a.query.Encode()
	p.SetURL(up.Base)
	out.Trailer = nil
	clean(out.Header, bearer)
	out.Header.Set("Accept-Encoding", "identity") // what is compressed could neither be counted nor hide a key
	for name, values := range up.Extra {
		if name = http.CanonicalHeaderKey(name); name == "Anthropic-Beta" {
			values = []string{join(out.Header.Values(name), values)}
		}
		out.Header[name] = slices.Clone(values)
	}
	if up.Base.User != nil {
		password, _ := up.Base.User.Password()
		out.SetBasicAuth(up.Base.User.Username(), password)
	}
	for _, c := range *a.shown {
		out.Header.Set(c.Header, c.Value)
	}
}

// join is one list of two, without repetition.
func join(lists ...[]string) string {
	var out []string
	for _, list := range lists {
		for item := range strings.SplitSeq(strings.Join(list, ","), ",") {
			if item = strings.TrimSpace(item); item != "" && !slices.Contains(out, item) {
				out = append(out, item)
			}
		}
	}
	return strings.Join(out, ",")
}

// redirectHeaders are headers of an answer that lead elsewhere or set something for later.
var redirectHeaders = []string{"Location", "Content-Location", "Refresh", "Alt-Svc", "Set-Cookie", "Clear-Site-Data"}

// look reads an answer's headers, and has its body read as it passes.
func look(r *http.Response, l limits, tell func(string, ...any)) error {
	a := askingOf(r.Request)
	if r.StatusCode == http.StatusSwitchingProtocols && a.through != "" {
		return nil
	}
	if r.StatusCode < 200 || r.StatusCode >= 300 && r.StatusCode < 400 {
		return errRedirect
	}
	for _, name := range redirectHeaders {
		r.Header.Del(name)
	}
	if how := r.Header.Get("Content-Encoding"); how != "" && !strings.EqualFold(how, "identity") {
		return errEncoded
	}
	if r.StatusCode == http.StatusUnauthorized && a.keys.renewed(r.Request.Context(), a.shown) {
		tell("gateway: the login was refused, and has been renewed")
		askAgain(r, a.protocol)
	}
	hidden := a.credentials()
	for name, values := range r.Header {
		for i := range values {
			if safe := []byte(values[i]); mask(safe, hidden) {
				r.Header[name][i] = string(safe)
			}
		}
	}
	r.Body = &maskedBody{ReadCloser: r.Body, hidden: hidden}
	if a.counted && r.StatusCode < 300 {
		r.Body = newMeter(r.Body, a.account, l.idle, func() {
			tell("gateway: %v", errIdle)
			a.cut(errIdle)
		})
	}
	return nil
}

// leastHidden is how long a credential is at least that is hidden in an answer.
const leastHidden = 8

// credentials are the parts of the credentials that the provider was shown, without their scheme.
func (a requestInfo) credentials() (hidden [][]byte) {
	for _, c := range *a.shown {
		value := c.Value[strings.LastIndexByte(c.Value, ' ')+1:]
		if len(value) >= leastHidden {
			hidden = append(hidden, []byte(value))
		}
	}
	return hidden
}

// mask replaces what must not be shown by asterisks, and reports whether there was any.
func mask(text []byte, hidden [][]byte) (found bool) {
	for _, value := range hidden {
		for at := bytes.Index(text, value); at >= 0; at = bytes.Index(text, value) {
			copy(text[at:], bytes.Repeat([]byte("*"), len(value)))
			found = true
		}
	}
	return found
}

// maskedBody is a body without credentials. What may be the beginning of one is held until it is known.
type maskedBody struct {
	io.ReadCloser
	hidden [][]byte
	held   []byte
	err    error
}

// Read implements io.Reader.
func (m *maskedBody) Read(p []byte) (int, error) {
	for m.err == nil {
		n := copy(p, m.held)
		if n < len(m.held) || n == len(p) {
			return 0, io.ErrShortBuffer
		}
		more, err := m.ReadCloser.Read(p[n:])
		n, m.err = n+more, err
		mask(p[:n], m.hidden)
		keep := 0
		for _, value := range m.hidden {
			for k := min(n, len(value)-1); k > keep && err == nil; k-- {
				if bytes.HasSuffix(p[:n], value[:k]) {
					keep = k
				}
			}
		}
		m.held = append(m.held[:0], p[n-keep:n]...)
		if n > keep {
			return n - keep, m.err // with the last bytes: a reader that has them can end before another read
		}
	}
	return 0, m.err
}

// failed answers when the provider has not.
func failed(w http.ResponseWriter, r *http.Request, err error, tell func(string, ...any)) {
	a := askingOf(r)
	var timeout net.Error
	switch {
	case errors.Is(err, errRedirect):
		tell("gateway: %v", err)
		refuse(w, a.protocol, "ralph: "+err.Error())
	case r.Context().Err() != nil: // no one hears it; but the model was asked
		if a.counted {
			a.account.ledger.close(a.account)
		}
		panic(http.ErrAbortHandler)
	case errors.As(err, &timeout) && timeout.Timeout():
		tell("gateway: the model's provider does not answer in time: %v", err)
		fail(w, a.protocol, http.StatusGatewayTimeout, "ralph: the model's provider does not answer in time")
	default:
		tell("gateway: the model's provider cannot be asked: %v", err)
		fail(w, a.protocol, http.StatusBadGateway, fmt.Sprintf("ralph: the model's provider cannot be asked: %v", err))
	}
}

// refuse answers so that the agent stops immediately and reports why: each CLI retries after other answers.
func refuse(w http.ResponseWriter, p Protocol, why string) {
	if p == Responses { // codex shows a plain text as it is
		respond(w, http.StatusBadRequest, "text/plain; charset=utf-8", why)
		return
	}
	fail(w, p, http.StatusPaymentRequired, why)
}

// fail answers with an error in the shape of its protocol.
func fail(w http.ResponseWriter, p Protocol, status int, why string) {
	respond(w, status, "application/json", string(failure(p, status, why)))
}

// failure is an error in the shape of its protocol.
func failure(p Protocol, status int, why string) []byte {
	kind := "api_error"
	if status == http.StatusPaymentRequired {
		kind = "billing_error"
	}
	var body any
	switch p {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": why}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": why, "status": "FAILED_PRECONDITION"}}
	default:
		body = map[string]any{"error": map[string]any{"type": kind, "message": why, "code": "ralph", "param": nil}}
	}
	text, _ := json.Marshal(body) // strings and numbers
	return text
}

func respond(w http.ResponseWriter, status int, kind, body string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// keys are the credentials of a way, which may be renewed while it is open.
type keys struct {
	renew func(ctx context.Context, refused []Credential) ([]Credential, bool)

	mu   sync.Mutex
	held *[]Credential // replaced, never changed
	lost bool          // held was refused, and there are no others
}

func (k *keys) now() *[]Credential {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// renewed reports whether there are other credentials than those that the provider has refused. Other requests wait
// during a renewal, and use the new ones.
func (k *keys) renewed(ctx context.Context, refused *[]Credential) bool {
	if k.renew == nil || refused == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != refused {
		return true
	}
	if k.lost {
		return false
	}
	fresh, ok := k.renew(ctx, *refused)
	if k.lost = !ok; ok {
		k.held = &fresh
	}
	return ok
}

// askAgain makes a refusal of credentials that have been renewed an answer after which each CLI asks again at once.
func askAgain(r *http.Response, p Protocol) {
	_ = r.Body.Close()
	text := failure(p, http.StatusServiceUnavailable, "ralph: the login has been renewed: ask again")
	r.StatusCode, r.Status = http.StatusServiceUnavailable, ""
	r.Header = http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(text))},
		"X-Should-Retry": {"true"}, "Retry-After": {"0"}}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}
