package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/web"
)

// site is a server over a world.
type site struct {
	t     testing.TB
	world *webpages.World
	pages *web.Server
	url   string
}

// open starts a server that shows the sample.
func open(t testing.TB, edit func(*web.Options)) *site {
	t.Helper()
	s := &site{t: t, world: webpages.Sample(t)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.pages.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	public := must[*url.URL](t)(url.Parse(server.URL))
	o := s.world.Options(public)
	o.Clock = func() time.Time { return webpages.Now }
	if edit != nil {
		edit(&o)
	}
	s.pages = must[*web.Server](t)(web.New(o))
	t.Cleanup(s.pages.Close)
	return s
}

// asks sends a request as somebody; "" is nobody. Streams are read for a moment.
func (s *site) asks(login, method, path, body string, edit func(*http.Request)) (*http.Response, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if strings.Contains(path, "/live") {
		ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
	}
	r := must[*http.Request](s.t)(http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body)))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if login != "" {
		r.AddCookie(&http.Cookie{Name: "ralph", Value: s.world.Enter(login)})
	}
	if edit != nil {
		edit(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got := must[*http.Response](s.t)(client.Do(r))
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if ctx.Err() == nil {
		noError(s.t, err)
	}
	return got, string(text)
}

// must is a value that has to come without an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		noError(t, err)
		return v
	}
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// things are what each part of an address may name: what is there, what is somebody else's, and guesses.
var things = map[string][]string{
	"run": {"run-3", "run-1", "run-9", "run-0", "RUN-3", "..%2Frun-3", "%00", "run-3%2F..%2Frun-9",
		strings.Repeat("r", 3000)},
	"delivery": {"delivery-1", "delivery-4", "delivery-5", "delivery-99", "%2e%2e"},
	"owner":    {"acme", "evil", "ACME", "nobody"}, "name": {"demo", "secret", "x"},
	"iteration": {"1", "0", "-1", "99999999999999999999"}, "file": {"web.css", "nothing", "..%2Fweb.go"},
}

// addresses are all that a route's pattern matches, of the things above.
func addresses(pattern string) []string {
	list := []string{strings.ReplaceAll(pattern, "{$}", "")}
	for part, names := range things {
		var longer []string
		for _, address := range list {
			if !strings.Contains(address, "{"+part+"}") {
				longer = append(longer, address)
				continue
			}
			for _, name := range names {
				longer = append(longer, strings.ReplaceAll(address, "{"+part+"}", name))
			}
		}
		list = longer
	}
	return list
}

// secrets are words that only somebody who may read evil/secret may see.
var secrets = []string{"secret plan", "secretly works", "secret issue", "secret-model",
	"mallory", "run-9", "delivery-5"}

// TestNobodySeesOrDoesMoreThanAllowed asks for everything that there is, as everybody, under every address that
// somebody might guess.
func TestNobodySeesOrDoesMoreThanAllowed(t *testing.T) {
	s := open(t, nil)
	asked := 0
	for _, rt := range web.Table() {
		method, pattern, _ := strings.Cut(rt.Pattern, " ")
		for _, address := range addresses(pattern) {
			for _, who := range []string{"", "stranger", "sam", "mallory", "bob", "alice", "olga"} {
				asked++
				s.probe(rt, who, method, address)
			}
		}
	}
	if asked < 500 {
		t.Errorf("only %d requests", asked)
	}
}

// probe asks once and holds the answer against what that person may see and do.
func (s *site) probe(rt web.Row, login, method, address string) {
	s.t.Helper()
	before := len(s.world.Done())
	got, text := s.asks(login, method, address, "text=x", nil)
	said := fmt.Sprintf("%s %.80s as %q: %d", method, address, login, got.StatusCode)
	if login != "mallory" && got.StatusCode != http.StatusSeeOther { // which repeats what was asked
		for _, word := range secrets {
			if strings.Contains(strings.ReplaceAll(text, address, ""), word) {
				s.t.Errorf("%s tells %q", said, word)
			}
		}
	}
	if done := s.world.Done()[before:]; len(done) > 0 && !acts(login, done[0]) {
		s.t.Errorf("%s did %+v", said, done)
	}
	switch {
	case got.StatusCode >= 500:
		s.t.Errorf("%s: %s", said, text)
	case rt.Guarded && login == "" && got.StatusCode != http.StatusNotFound && got.Header.Get("Location") == "":
		s.t.Errorf("%s answers nobody", said)
	case rt.OfThing && login == "stranger" && got.StatusCode != http.StatusNotFound:
		s.t.Errorf("%s answers a stranger", said)
	}
}

// acts says who may have something done: whoever writes in the repository, and an operator where there is none.
func acts(login string, a web.Action) bool {
	switch a.Repository {
	case webpages.Demo:
		return login == "alice"
	case webpages.Secret:
		return login == "mallory"
	}
	return a.Repository == "" && login == "olga"
}

// Somebody who may gets what they ask for, so that the test above does not pass because nothing works.
func TestWhoMayIsAnswered(t *testing.T) {
	s := open(t, nil)
	for _, c := range []struct {
		login, method, path string
		status              int
	}{
		{"alice", "GET", "/", 200}, {"alice", "GET", "/runs/run-3", 200}, {"bob", "GET", "/runs/run-3", 200},
		{"bob", "GET", "/runs/run-3/live", 200}, {"bob", "GET", "/runs/run-3/output.txt", 200},
		{"bob", "GET", "/runs/run-4/output.txt", 200}, {"bob", "GET", "/runs/run-3/prompts/77", 404},
		{"bob", "GET", "/runs/run-3/prompts/1", 200}, {"bob", "POST", "/runs/run-3/stop", 404},
		{"olga", "POST", "/runs/run-3/stop", 404}, {"alice", "POST", "/runs/run-3/stop", 303},
		{"alice", "POST", "/runs/run-3/hint", 303}, {"alice", "POST", "/runs/run-1/retry", 303},
		{"alice", "POST", "/deliveries/delivery-1/redeliver", 303}, {"bob", "POST", "/deliveries/delivery-1/redeliver", 404},
		{"olga", "POST", "/deliveries/delivery-4/redeliver", 303}, {"alice", "GET", "/deliveries/delivery-4", 404},
		{"alice", "GET", "/repositories/ACME/Demo", 200}, {"alice", "GET", "/repositories/evil/secret", 404},
		{"mallory", "GET", "/runs/run-9", 200}, {"mallory", "GET", "/runs/run-3", 404},
		{"alice", "GET", "/setup", 404}, {"olga", "GET", "/setup", 200}, {"", "GET", "/setup", 303},
		{"alice", "POST", "/setup/secret", 404}, {"", "POST", "/setup/secret", 404}, {"olga", "POST", "/setup/secret", 303},
	} {
		if got, text := s.asks(c.login, c.method, c.path, "text=x", nil); got.StatusCode != c.status {
			t.Errorf("%s %s as %q: %d, want %d: %.300s", c.method, c.path, c.login, got.StatusCode, c.status, text)
		}
	}
}

// TestGitHubDoesNotAnswer: within a second the page says so, and nothing is shown or done whose reader cannot be checked.
func TestGitHubDoesNotAnswer(t *testing.T) {
	s := open(t, nil)
	s.world.Unanswered = true
	var all sync.WaitGroup
	for _, c := range []struct{ login, method, path string }{{"alice", "GET", "/"}, {"alice", "GET", "/runs/run-3"},
		{"alice", "GET", "/deliveries"}, {"alice", "GET", "/repositories/acme/demo"}, {"alice", "POST", "/runs/run-3/stop"},
		{"olga", "GET", "/setup"}, {"olga", "GET", "/deliveries/delivery-4"}} {
		all.Go(func() {
			began := time.Now()
			got, text := s.asks(c.login, c.method, c.path, "", nil)
			if got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "GitHub doesn&#39;t answer; trying again") ||
				strings.Contains(text, "run-3") || time.Since(began) > 3*time.Second { // a second on a quiet machine
				t.Errorf("%s %s: %d after %s: %s", c.method, c.path, got.StatusCode, time.Since(began), text)
			}
			if again := got.Header.Get("Refresh") != ""; again != (c.method == "GET") {
				t.Errorf("%s %s loads again by itself: %v", c.method, c.path, again)
			}
		})
	}
	all.Wait()
	if done := s.world.Done(); len(done) > 0 {
		t.Errorf("%+v", done)
	}
	s.world.Unanswered = false
	if got, _ := s.asks("alice", "GET", "/runs/run-3", "", nil); got.StatusCode != http.StatusOK {
		t.Errorf("%d after GitHub answers again", got.StatusCode)
	}
}

// TestOutsiders see that runs exist, and nothing that they printed, cost or were told.
func TestOutsiders(t *testing.T) {
	s := open(t, nil)
	for _, c := range []struct {
		path   string
		status int
		has    string
	}{
		{"/runs/run-1", 200, "57"}, {"/runs/run-3", 200, "Running"}, {"/repositories/acme/demo", 200, "pull request 57"},
		{"/runs/run-3/live", 404, ""}, {"/runs/run-3/output.txt", 404, ""}, {"/runs/run-3/prompts/1", 404, ""},
		{"/deliveries/delivery-1", 404, ""}, {"/runs/run-4", 404, ""}, {"/", 200, "None of the repositories"},
		{"/spend", 200, "Nothing was spent"}, {"/audit", 200, ""}, {"/setup", 404, ""},
	} {
		got, text := s.asks("sam", "GET", c.path, "", nil)
		if got.StatusCode != c.status || !strings.Contains(text, c.has) {
			t.Errorf("%s: %d: %s", c.path, got.StatusCode, text)
		}
		for _, word := range []string{"$", "claude", "I read hello.go", "iteration", "the coder", "is granted", "stopped the run",
			"/stop", "910k"} {
			if strings.Contains(text, word) {
				t.Errorf("%s tells an outsider %q", c.path, word)
			}
		}
	}
}

// FuzzSession: without a session that began here, nothing is seen, whatever cookies and states a browser sends.
func FuzzSession(f *testing.F) {
	s := open(f, nil)
	s.world.SignsIn = "alice"
	for _, cookie := range []string{"", "ralph=", "ralph=x; ralph=y", "ralph-sign-in=state=a&verifier=b", "ralph=\x00", "ralph=" +
		strings.Repeat("a", 200), "__Host-ralph=x"} {
		f.Add(cookie, "/runs/run-3", "a")
		f.Add(cookie, "/sign-in/callback", "a")
	}
	f.Fuzz(func(t *testing.T, cookie, path, state string) {
		u := &url.URL{Path: "/" + strings.TrimLeft(path, "/"), RawQuery: url.Values{"state": {state}, "code": {"c"}}.Encode()}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL, r.Host = u, strings.TrimPrefix(s.url, "http://")
		r.Header["Cookie"] = []string{cookie}
		w := httptest.NewRecorder()
		s.pages.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%q %s: %d", cookie, u, w.Code)
		}
		for _, word := range append(secrets, "run-3", "I read hello.go") {
			if strings.Contains(w.Body.String(), word) && !strings.Contains(u.String()+cookie, word) {
				t.Errorf("%q %s shows %q", cookie, u, word)
			}
		}
		for _, c := range w.Result().Cookies() {
			if c.Name == "ralph" && c.Value != "" && c.MaxAge > 0 {
				t.Errorf("%q %s: a session begins", cookie, u)
			}
		}
	})
}
