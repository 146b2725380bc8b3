package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// must is a value that only the machine can fail to give.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestReach: which host and port an entry lets be spoken to, and where that host may be.
func TestReach(t *testing.T) {
	for _, c := range []struct {
		entry, host, port string
		want              trust
	}{
		{"api.example.com", "api.example.com", "443", private},
		{"api.example.com", "API.Example.com.", "80", private},
		{"api.example.com", "api.example.com", "22", denied},
		{"api.example.com", "evil-api.example.com", "443", denied},
		{"api.example.com", "api.example.com.evil.net", "443", denied},
		{"*.example.com", "a.b.example.com", "443", private},
		{"*.example.com", "example.com", "443", denied},
		{"*.example.com", "evilexample.com", "443", denied},
		{"*", "anything.net", "443", public},
		{"*", "anything.net", "25", denied},
		{"localhost:8080", "localhost", "8080", exact},
		{"localhost:8080", "localhost", "8081", denied},
		{"10.1.2.3", "10.1.2.3", "443", exact},
		{"api.example.com", "", "443", denied},
	} {
		if got := (allowedHosts{c.entry}).of(c.host, c.port); got != c.want {
			t.Errorf("%s: %s:%s is %d, want %d", c.entry, c.host, c.port, got, c.want)
		}
	}
	for address, want := range map[string]trust{ // the least trust that goes there
		"93.184.216.34": public, "10.0.0.1": private, "192.168.1.1": private, "100.64.0.1": private, "127.0.0.1": exact,
		"::1":             exact,
		"169.254.169.254": exact, "fe80::1": exact, "0.0.0.0": exact, "::ffff:127.0.0.1": exact, "::ffff:10.0.0.1": private,
		"224.0.0.1":       exact,
		"64:ff9b::7f00:1": private, "fd00::1": private, "2606:4700::1": public,
	} {
		at := netip.MustParseAddr(address)
		for _, level := range []trust{denied, public, private, exact} {
			if got := level.may(at); got != (level >= want) {
				t.Errorf("%s for trust %d: %t", address, level, got)
			}
		}
	}
}

// proxyOf serves an egress on this machine.
func proxyOf(t *testing.T, allow []string, environ map[string]string, log func(string, ...any)) *url.URL {
	t.Helper()
	return serve(t, newEgress(allow, func(name string) string { return environ[name] }, log))
}

// serve is the address at which an egress is served on this machine.
func serve(t *testing.T, e *egress) *url.URL {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go e.serve(l)
	t.Cleanup(e.close)
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// TestNamesAreHeldAgainstTheirAddress: a name that was allowed by a star leads to no service of this machine.
func TestNamesAreHeldAgainstTheirAddress(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "secret")
	}))
	defer origin.Close()
	_, port, _ := net.SplitHostPort(origin.Listener.Addr().String())
	e := &egress{upstream: func(*url.URL) (*url.URL, error) { return nil, nil }}
	for _, level := range []trust{public, private} {
		if c, err := e.dial(t.Context(), &url.URL{Scheme: "https", Host: "localhost"}, "localhost:"+port, level); err == nil {
			c.Close()
			t.Errorf("trust %d reaches this machine", level)
		}
	}
	must(e.dial(t.Context(), &url.URL{Scheme: "https", Host: "localhost"}, "localhost:"+port, exact)).Close()
}

// TestProxyOfThisMachine: where a proxy leads out of here, everything goes by it, with its password.
func TestProxyOfThisMachine(t *testing.T) {
	asked := make(chan string, 10)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		if r.Method != http.MethodConnect {
			fmt.Fprint(w, "page")
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\nhello from "+r.Host)
	}))
	defer upstream.Close()
	up := strings.Replace(upstream.URL, "http://", "http://me:word@", 1)
	at := proxyOf(t, []string{"a.example"}, map[string]string{"https_proxy": up, "HTTP_PROXY": up}, t.Logf)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	answer := must(client.Get("http://a.example/x"))
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if got := <-asked; string(text) != "page" || got != "GET a.example Basic bWU6d29yZA==" {
		t.Errorf("%q %q", text, got)
	}
	c := must(net.Dial("tcp", at.Host))
	defer c.Close()
	fmt.Fprint(c, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
	from := bufio.NewReader(c)
	if answer = must(http.ReadResponse(from, nil)); answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	text, _ = io.ReadAll(from)
	if got := <-asked; string(text) != "hello from a.example:443" || got != "CONNECT a.example:443 Basic bWU6d29yZA==" {
		t.Errorf("%q %q", text, got)
	}
}

// TestDenied: a sentence for who asked, and one line for each host, whatever asks how often.
func TestDenied(t *testing.T) {
	lines := make(chan string, 10)
	e := newEgress([]string{"a.example"}, func(string) string { return "" },
		func(format string, args ...any) { lines <- fmt.Sprintf(format, args...) })
	at := serve(t, e)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	for range 3 {
		answer := must(client.Get("http://b.example/x"))
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden || string(text) != "ralph: the sandbox does not let anything speak to "+
			"b.example; if that is needed, name it in the setting sandboxNetwork\n" {
			t.Errorf("%d %s", answer.StatusCode, text)
		}
	}
	if len(lines) != 1 || <-lines != "sandbox: the sandbox does not let anything speak to b.example; if that is needed, "+
		"name it in the setting sandboxNetwork" {
		t.Errorf("%d lines", len(lines))
	}
	s := &Sandbox{gates: map[Use]*egress{Checks: e}}
	if got := s.Refused(Checks); len(got) != 1 || got[0] != "b.example" || s.Refused(Works) != nil ||
		(*Sandbox)(nil).Refused(Checks) != nil {
		t.Errorf("refused were %q", got)
	}
}
