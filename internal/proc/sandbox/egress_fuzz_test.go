package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// wayOut is the proxy that leads out of a machine: it notes whom it is asked for, and answers itself.
type wayOut struct {
	at    *url.URL
	mu    sync.Mutex
	asked []string
}

func newWayOut(t testing.TB) *wayOut {
	t.Helper()
	l := must(net.Listen("tcp4", "127.0.0.1:0"))
	w := &wayOut{at: &url.URL{Scheme: "http", Host: l.Addr().String()}}
	server := &http.Server{Handler: w}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return w
}

func (w *wayOut) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	host := r.Host
	if r.Method != http.MethodConnect {
		host = r.URL.Host
	}
	w.asked = append(w.asked, host)
	_, _ = io.WriteString(out, "ok")
}

// since are those who were asked for since the last call.
func (w *wayOut) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// one is a listener of one connection.
type one struct {
	conn chan net.Conn
	once sync.Once
	done chan struct{}
}

func (o *one) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}
func (o *one) Close() error   { o.once.Do(func() { close(o.done) }); return nil }
func (o *one) Addr() net.Addr { return &net.TCPAddr{} }

// said writes bytes to an egress and returns all that it answers. Nothing more comes after them.
func said(l *one, request []byte) []byte {
	here, there := net.Pipe()
	l.conn <- there
	go func() {
		_, _ = here.Write(request)
		// what waits for more of a request, or for the other end of a tunnel, is told that there is none
		_, _ = here.Write([]byte("\r\n\r\n"))
	}()
	defer here.Close()
	_ = here.SetDeadline(time.Now().Add(time.Second)) // for a body that is longer than what comes
	var answers bytes.Buffer
	from := bufio.NewReader(io.TeeReader(here, &answers))
	if answer, err := http.ReadResponse(from, nil); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
		_ = answer.Body.Close()
	}
	return answers.Bytes()
}

// FuzzEgress: whatever a box says to its proxy, nobody is spoken to who is not allowed, and what comes back is HTTP.
func FuzzEgress(f *testing.F) {
	out := newWayOut(f)
	allow := []string{"allowed.test", "*.below.test", "odd.test:8080"}
	e := newEgress(allow, func(string) string { return "" }, func(string, ...any) {})
	e.upstream = func(*url.URL) (*url.URL, error) { return out.at, nil }
	l := &one{conn: make(chan net.Conn), done: make(chan struct{})}
	go e.serve(l)
	f.Cleanup(e.close)
	for _, request := range []string{
		"GET http://allowed.test/a HTTP/1.1\r\nHost: denied.test\r\n\r\n",
		"GET http://denied.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"CONNECT allowed.test:443 HTTP/1.1\r\nHost: denied.test:443\r\n\r\n",
		"CONNECT denied.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n",
		"GET http://allowed.test@denied.test/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"CONNECT x.below.test.:443 HTTP/1.1\r\n\r\n", "GET http://odd.test:8080/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://denied.test%00.below.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://[::1]:80/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"CONNECT denied.test/x.below.test:443 HTTP/1.1\r\n\r\n", "CONNECT  HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02",
		"GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\nConnection: close, host\r\nUpgrade: h2c\r\n\r\n",
	} {
		f.Add([]byte(request))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		if len(request) > 4<<10 {
			return
		}
		answer := said(l, request)
		for _, host := range out.since() {
			if !inner(allow, host) {
				t.Errorf("%q has reached %q", request, host)
			}
		}
		if len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
			t.Errorf("%q is answered by %q", request, answer)
		}
	})
}

// inner reports whether a list of ours has a host with its port, said in other words than those of reach.
func inner(allow []string, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, "80"
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	usual := port == "80" || port == "443"
	if strings.ContainsAny(host, "/@\\\x00 %?#") {
		return false
	}
	return usual && slices.Contains(allow, host) || slices.Contains(allow, host+":"+port) ||
		usual && strings.HasSuffix(host, ".below.test") && host != ".below.test"
}

// FuzzReach: a host that no entry names is denied, and what a star stands for is public.
func FuzzReach(f *testing.F) {
	f.Add("allowed.test", "443", "127.0.0.1")
	f.Add("X.below.test.", "80", "::ffff:10.0.0.1")
	f.Add("notbelow.test", "443", "10.0.0.1")
	f.Add("localhost", "8080", "fe80::1%eth0")
	f.Add("127.1", "80", "169.254.169.254")
	f.Add("a", "", "64:ff9b::7f00:1")
	f.Fuzz(func(t *testing.T, host, port, address string) {
		named := allowedHosts{"allowed.test", "*.below.test", "localhost:8080"}
		plain := strings.TrimSuffix(strings.ToLower(host), ".")
		may := plain == "allowed.test" || strings.HasSuffix(plain, ".below.test") || plain == "localhost" && port == "8080"
		if level := named.of(host, port); level != denied && !may || level == exact && port != "8080" {
			t.Errorf("%q:%q is trusted as %d", host, port, level)
		}
		level := allowedHosts{"*"}.of(host, port)
		if level > public || level == public && port != "80" && port != "443" {
			t.Errorf("%q:%q is trusted as %d for a star", host, port, level)
		}
		at, err := netip.ParseAddr(address)
		if err != nil {
			return
		}
		here := at.Unmap().IsLoopback() || at.Unmap().IsLinkLocalUnicast() || at.IsUnspecified() || at.IsMulticast()
		if denied.may(at) || public.may(at) && (here || at.Unmap().IsPrivate()) || private.may(at) && here ||
			public.may(at) && !private.may(at) {
			t.Errorf("%s may be reached", at)
		}
	})
}
