package web_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/web"
)

// TestSignIn goes the whole way over GitHub, and tries to cut it short.
func TestSignIn(t *testing.T) {
	var log strings.Builder
	s := open(t, func(o *web.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s.world.SignsIn = "alice"
	jar := must[*cookiejar.Jar](t)(cookiejar.New(nil))
	client := &http.Client{Jar: jar}
	got := must[*http.Response](t)(client.Get(s.url + "/sign-in/github?next=/runs/run-3"))
	got.Body.Close()
	if got.StatusCode != http.StatusOK || got.Request.URL.Path != "/runs/run-3" {
		t.Fatalf("%d at %s", got.StatusCode, got.Request.URL)
	}
	for _, c := range []struct{ name, path, cookie string }{
		{"without a cookie", "/sign-in/callback?state=x&code=code-v", ""},
		{"with another state", "/sign-in/callback?state=x&code=code-v", "ralph-sign-in=state=y&verifier=v"},
		{"without a state", "/sign-in/callback?state=&code=code-v", "ralph-sign-in=state=&verifier=v"},
		{"without a code", "/sign-in/callback?state=x", "ralph-sign-in=state=x&verifier=v"},
		{"with a code for another verifier", "/sign-in/callback?state=x&code=code-w", "ralph-sign-in=state=x&verifier=v"},
	} {
		got, _ := s.asks("", "GET", c.path, "", func(r *http.Request) { r.Header.Set("Cookie", c.cookie) })
		in := slices.ContainsFunc(got.Cookies(), func(c *http.Cookie) bool { return c.Name == "ralph" })
		if got.StatusCode < 400 || in {
			t.Errorf("%s: %d with %v", c.name, got.StatusCode, got.Cookies())
		}
	}
	if n := strings.Count(log.String(), "address=127.0.0.1"); n != 5 {
		t.Errorf("%d failed sign-ins with an address: %s", n, log.String())
	}
	for i := range 26 { // 6 were before
		status := http.StatusBadRequest
		if i >= 24 {
			status = http.StatusTooManyRequests
		}
		if got, _ := s.asks("", "GET", "/sign-in/callback?state=x&code=y", "", nil); got.StatusCode != status {
			t.Errorf("sign-in %d of a minute: %d", i+7, got.StatusCode)
		}
	}
	other := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1, 192.0.2.7") }
	if got, _ := s.asks("", "GET", "/sign-in/callback?state=x&code=y", "", other); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(log.String(), "address=192.0.2.7") {
		t.Errorf("from elsewhere: %d", got.StatusCode)
	}
}

// TestAddress: a proxy near by is believed about whom it passes on, and nobody else.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ from, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"}, {"192.0.2.1:5", "192.0.2.9", "192.0.2.1"}, {"[::1]:5", "2001:db8::1", "2001:db8::1"},
		{"10.0.0.2:5", "192.0.2.9, 192.0.2.8", "192.0.2.8"}, {"127.0.0.1:5", "nonsense", "127.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: c.from, Header: http.Header{"X-Forwarded-For": {c.forwarded}}}
		if got := web.Address(r); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestNextIsHere: a sign-in leads to no page of somebody else.
func TestNextIsHere(t *testing.T) {
	s := open(t, nil)
	for next, want := range map[string]string{"/runs/run-3?x=1": "/runs/run-3?x=1", "//evil.example": "/",
		"https://evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "": "/", "/a\nb": "/",
		"/" + strings.Repeat("x", 2000): "/"} {
		got, _ := s.asks("alice", "GET", "/sign-in?next="+url.QueryEscape(next), "", nil)
		if got.Header.Get("Location") != want {
			t.Errorf("%q leads to %q", next, got.Header.Get("Location"))
		}
	}
}

// TestCookiesAndHeaders holds every answer to what browsers are told.
func TestCookiesAndHeaders(t *testing.T) {
	s := open(t, func(o *web.Options) { o.Public = &url.URL{Scheme: "https", Host: o.Public.Host} })
	s.world.SignsIn = "alice"
	got, _ := s.asks("", "GET", "/sign-in/github", "", nil)
	c := got.Cookies()[0]
	if c.Name != "__Host-ralph-sign-in" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode ||
		c.Path != "/" ||
		c.Domain != "" {
		t.Errorf("%+v", c)
	}
	for _, path := range []string{"/", "/sign-in", "/nothing", "/static/web.css", "/runs/run-3/live"} {
		got, _ := s.asks("", "GET", path, "", nil)
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Strict-Transport-Security": "max-age", "Cross-Origin-Opener-Policy": "same-origin"} {
			if !strings.Contains(got.Header.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, got.Header.Get(name))
			}
		}
	}
}

// TestForeignRequestsDoNothing: no other site, and no other name of this machine, speaks for somebody signed in.
func TestForeignRequestsDoNothing(t *testing.T) {
	s := open(t, nil)
	for name, edit := range map[string]func(*http.Request){
		"another site":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"the same site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"another origin": func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
		},
		"no origin":    func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another host": func(r *http.Request) { r.Host = "evil.example" },
	} {
		for _, path := range []string{"/runs/run-3/stop", "/sign-out", "/setup/code", "/deliveries/delivery-1/redeliver"} {
			got, _ := s.asks("alice", "POST", path, "text=x", edit)
			if got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusMisdirectedRequest {
				t.Errorf("%s: %s: %d", name, path, got.StatusCode)
			}
		}
	}
	if done := s.world.Done(); len(done) > 0 {
		t.Errorf("%+v", done)
	}
	got, _ := s.asks("alice", "POST", "/runs/run-3/stop", strings.Repeat("x", 100_000), nil)
	if got.StatusCode != http.StatusBadRequest {
		t.Errorf("a form of 100 kB: %d", got.StatusCode)
	}
}

// TestSetup goes from the code to the App.
func TestSetup(t *testing.T) {
	s := open(t, nil)
	s.world.Code, s.world.App = "c0de", web.SetupStanding{}
	if got, _ := s.asks("", "POST", "/setup/code", "code=wrong", nil); got.StatusCode != http.StatusForbidden {
		t.Errorf("a wrong code: %d", got.StatusCode)
	}
	got, _ := s.asks("", "POST", "/setup/code", "code=c0de", nil)
	if got.StatusCode != http.StatusSeeOther {
		t.Fatalf("the code: %d", got.StatusCode)
	}
	with := func(cookies []*http.Cookie) func(*http.Request) {
		return func(r *http.Request) {
			for _, c := range cookies {
				r.AddCookie(c)
			}
		}
	}
	door := got.Cookies()
	got, text := s.asks("", "GET", "/setup?organization=acme", "", with(door))
	form := `action="https://github.com/organizations/acme/settings/apps/new?state=`
	if got.StatusCode != http.StatusOK || !strings.Contains(text, form) ||
		!strings.HasSuffix(got.Header.Get("Content-Security-Policy"), "form-action 'self' https://github.com") {
		t.Errorf("%d %s %.2000s", got.StatusCode, got.Header.Get("Content-Security-Policy"), text)
	}
	_, text = s.asks("", "GET", "/setup?organization=a/../b", "", with(door))
	if !strings.Contains(text, "no name of an organization") {
		t.Error("a name that is none was taken")
	}
	state := got.Cookies()[0]
	both := with(append(door, state))
	if got, _ = s.asks("", "GET", "/setup/created?code=x&state=other", "", both); got.StatusCode != http.StatusBadRequest {
		t.Errorf("another state: %d", got.StatusCode)
	}
	got, _ = s.asks("", "GET", "/setup/created?code=x&state="+state.Value, "", both)
	if got.StatusCode != http.StatusSeeOther {
		t.Errorf("the App: %d", got.StatusCode)
	}
	if s.world.App.App == "" {
		t.Error("there is no App")
	}
	if got, _ := s.asks("", "POST", "/setup/code", "code=c0de", nil); got.StatusCode != http.StatusForbidden {
		t.Errorf("the code a second time: %d", got.StatusCode)
	}
}

// TestUnfinishedForm: a form that never ends is given up, and nothing is done.
func TestUnfinishedForm(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	conn := must[net.Conn](t)(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))
	defer conn.Close()
	_, err := fmt.Fprintf(conn, "POST /runs/run-3/stop HTTP/1.1\r\nHost: %s\r\nCookie: ralph=%s\r\nContent-Length: 100\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\n\r\ntext=never", strings.TrimPrefix(s.url, "http://"),
		s.world.Enter("alice"))
	noError(t, err)
	noError(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute))) // only catches a hang
	answer, err := io.ReadAll(conn)                                 // to its end: the connection is closed
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
		t.Errorf("%v: %.200s", err, answer)
	}
	if done := s.world.Done(); len(done) > 0 {
		t.Errorf("%+v", done)
	}
}

// TestRefusals: whoever opens a page is led to the sign-in or sees why not; a part of one gets a line.
func TestRefusals(t *testing.T) {
	s := open(t, nil)
	for _, c := range []struct {
		login, accept, path string
		status              int
		kind                string
	}{
		{"", "text/html,*/*;q=0.8", "/runs/run-3/output.txt", 303, "text/html"}, {"", "text/event-stream", "/runs/run-3/live", 404, "text/plain"},
		{"alice", "text/html", "/runs/run-9", 404, "text/html"}, {"alice", "text/css,*/*;q=0.1", "/static/nothing", 404, "text/plain"},
	} {
		got, _ := s.asks(c.login, "GET", c.path, "", func(r *http.Request) { r.Header.Set("Accept", c.accept) })
		if got.StatusCode != c.status || !strings.HasPrefix(got.Header.Get("Content-Type"), c.kind) {
			t.Errorf("%+v: %d %s", c, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
}
