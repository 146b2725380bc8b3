package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// egress is the only way out of a box: a proxy for HTTP and CONNECT that speaks to hosts that are allowed, and resolves
// their names outside. It never looks into what it carries.
type egress struct {
	allow    allowedHosts
	log      func(format string, args ...any)
	upstream func(*url.URL) (*url.URL, error) // the proxy that we ourselves have to use; nil URL: none
	server   *http.Server
	mu       sync.Mutex
	told     map[string]bool // hosts that were denied
}

const (
	dialTime   = 30 * time.Second
	headerTime = 30 * time.Second
	mostTold   = 50 // denied hosts in the log
)

// newEgress makes one. environ is ours: it names the proxy that leads out of here, if one does.
func newEgress(allow []string, environ func(string) string, log func(string, ...any)) *egress {
	e := &egress{allow: allow, log: log, told: map[string]bool{}}
	either := func(name string) string { return cmp.Or(environ(name), environ(strings.ToLower(name))) }
	all := either("ALL_PROXY")
	if !strings.HasPrefix(all, "http") {
		all = ""
	}
	conf := httpproxy.Config{HTTPProxy: cmp.Or(either("HTTP_PROXY"), all), HTTPSProxy: cmp.Or(either("HTTPS_PROXY"), all),
		NoProxy: either("NO_PROXY")}
	e.upstream = conf.ProxyFunc()
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: headerTime, MaxHeaderBytes: 64 << 10}
	return e
}

// serve answers on a listener until it is closed.
func (e *egress) serve(l net.Listener) { _ = e.server.Serve(l) }

func (e *egress) close() { _ = e.server.Close() }

// ServeHTTP implements http.Handler.
func (e *egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := &url.URL{Scheme: "https", Host: r.Host}
	if r.Method != http.MethodConnect {
		target = r.URL
		if target.Scheme != "http" || target.Host == "" {
			http.Error(w, "ralph's sandbox: this is a proxy; ask it for http://HOST/… or CONNECT HOST:443",
				http.StatusBadRequest)
			return
		}
	}
	host, port := target.Hostname(), target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	level := e.allow.of(host, port)
	if level == denied {
		e.deny(w, net.JoinHostPort(host, port))
		return
	}
	if r.Method == http.MethodConnect {
		e.connect(w, r, target, net.JoinHostPort(host, port), level)
		return
	}
	e.forward(w, r, level)
}

// deny refuses a host, and reports it once.
func (e *egress) deny(w http.ResponseWriter, target string) {
	host := strings.TrimSuffix(strings.TrimSuffix(target, ":443"), ":80")
	why := fmt.Sprintf("the sandbox does not let anything speak to %.200s; if that is needed, name it in the setting "+
		"sandboxNetwork", host)
	e.mu.Lock()
	first := !e.told[host] && len(e.told) < mostTold
	if first {
		e.told[host] = true
	}
	e.mu.Unlock()
	if first {
		e.log("sandbox: %s", why)
	}
	http.Error(w, "ralph: "+why, http.StatusForbidden)
}

// refused are the hosts that were denied, sorted.
func (e *egress) refused() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.told))
}

// connect carries bytes to and fro.
func (e *egress) connect(w http.ResponseWriter, r *http.Request, target *url.URL, address string, level trust) {
	ctx, cancel := context.WithTimeout(r.Context(), dialTime)
	defer cancel()
	there, err := e.dial(ctx, target, address, level)
	if err != nil {
		e.failed(w, address, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	splice(here, buffered.Reader, there)
}

// splice carries bytes between two connections until both sides have said all.
func splice(here net.Conn, from io.Reader, there net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(there, from)
		shut(there)
	}()
	_, _ = io.Copy(here, there)
	shut(here)
	<-done
}

// shut says that nothing more comes.
func shut(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

var errAddress = errors.New("the sandbox does not allow connections to its address")

// dial reaches a host, by the proxy that leads out of here if there is one: that one resolves the name then.
func (e *egress) dial(ctx context.Context, target *url.URL, address string, level trust) (net.Conn, error) {
	via, err := e.upstream(target)
	if err != nil {
		return nil, err
	}
	if via == nil {
		return dialer(level).DialContext(ctx, "tcp", address)
	}
	port := via.Port()
	if port == "" {
		port = "80"
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(via.Hostname(), port))
	if err != nil {
		return nil, err
	}
	return through(ctx, c, via, address)
}

// through asks a proxy for a connection.
func through(ctx context.Context, c net.Conn, via *url.URL, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if via.User != nil {
		password, _ := via.User.Password()
		ask.Header.Set("Proxy-Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password)))
	}
	answers := bufio.NewReader(c)
	err := ask.Write(c)
	if err == nil {
		answer, failed := http.ReadResponse(answers, ask) //nolint:bodyclose // what follows is the connection
		if err = failed; err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("the proxy of this machine answers %s", answer.Status)
		}
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return buffered{c, answers}, nil
}

// buffered is a connection of which something has been read already.
type buffered struct {
	net.Conn
	from *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.from.Read(p) }

// dialer reaches only addresses that a trust goes to, whatever a name resolves to.
func dialer(level trust) *net.Dialer {
	return &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !level.may(at.Addr()) {
			return errAddress
		}
		return nil
	}}
}

// forward asks for a page of http.
func (e *egress) forward(w http.ResponseWriter, r *http.Request, level trust) {
	transport := &http.Transport{
		Proxy: func(q *http.Request) (*url.URL, error) { return e.upstream(q.URL) }, DisableKeepAlives: true,
		DisableCompression: true,
	}
	if via, err := e.upstream(r.URL); err == nil && via == nil {
		transport.DialContext = dialer(level).DialContext
	}
	(&httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, // as streams of events need it
		Rewrite:      func(p *httputil.ProxyRequest) { p.Out.URL = p.In.URL },
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { e.failed(w, r.URL.Host, err) },
	}).ServeHTTP(w, r)
}

func (e *egress) failed(w http.ResponseWriter, target string, err error) {
	if errors.Is(err, errAddress) {
		e.deny(w, target)
		return
	}
	http.Error(w, fmt.Sprintf("ralph's sandbox: reaching %.200s: %v", target, err), http.StatusBadGateway)
}

// carry connects everyone who comes to a listener with an address of this machine.
func carry(l net.Listener, address string) {
	for {
		here, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer here.Close()
			there, err := net.DialTimeout("tcp", address, dialTime)
			if err != nil {
				return
			}
			defer there.Close()
			splice(here, here, there)
		}()
	}
}

// allowedHosts are the hosts that a box can connect to. An entry is a host ("api.anthropic.com"), what is below one
// ("*.npmjs.org"), all of the public network ("*"), or a host with its port ("localhost:8080"). Without a port it is 80
// and 443.
type allowedHosts []string

// trust is how far an entry goes.
type trust int

// From least to most. A host that was named may be anywhere in a private network; of what a star stands for, nothing
// but what is public: it would open the services of this machine and the metadata of its cloud.
const (
	denied trust = iota
	public
	private
	exact // also this machine itself
)

// of says how far a host and port are trusted.
func (r allowedHosts) of(host, port string) trust {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	best := denied
	for _, entry := range r {
		entry = strings.ToLower(entry)
		name, only, hasPort := strings.Cut(entry, ":")
		if hasPort && only != port || !hasPort && port != "80" && port != "443" {
			continue
		}
		level := denied
		switch {
		case name == "*":
			level = public
		case strings.HasPrefix(name, "*."):
			if strings.HasSuffix(host, name[1:]) {
				level = private
			}
		case name == host:
			level = private
			if hasPort || net.ParseIP(name) != nil || name == "localhost" {
				level = exact
			}
		}
		best = max(best, level)
	}
	return best
}

// may reports whether a host that is trusted so far may be at an address.
func (t trust) may(at netip.Addr) bool {
	at = at.Unmap()
	switch {
	case t == exact:
		return true
	case t == denied, at.IsLoopback(), at.IsUnspecified(), at.IsLinkLocalUnicast(), at.IsMulticast(),
		at.IsInterfaceLocalMulticast():
		return false
	case t == private:
		return true
	}
	return !at.IsPrivate() && !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(at) })
}

// notPublic is what netip does not call private: of carriers, of tests, the whole of 0/8, and addresses that carry an
// IPv4 address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("2002::/16"),
}
