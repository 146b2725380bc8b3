package gateway

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

const theKey = "the-key-of-the-provider"

var allProtocols = []Protocol{Anthropic, Responses, Chat, Gemini}

// provider answers, and notes what it was asked.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
	told  []string // bodies
}

func newProvider(t testing.TB, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.asked, p.told = append(p.asked, r), append(p.told, string(body))
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) requests() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *provider) upstream(t testing.TB) Upstream {
	t.Helper()
	return Upstream{Base: must(url.Parse(p.URL)), Credentials: []Credential{{"x-api-key", theKey}}, Protocols: allProtocols}
}

func opened(t testing.TB, p *provider, change func(*Options, *Upstream)) *Turn {
	t.Helper()
	up, o := p.upstream(t), Options{}
	if change != nil {
		change(&o, &up)
	}
	if o.Upstreams == nil {
		o.Upstreams = map[string]Upstream{"": up}
	}
	turn := must(Open(o))
	t.Cleanup(func() {
		if err := turn.Close(); err != nil {
			t.Error(err)
		}
	})
	return turn
}

// ask sends a request as an agent does. BEARER in a header is the turn's.
func ask(t testing.TB, turn *Turn, method, path, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	r := must(http.NewRequest(method, turn.URL()+path, strings.NewReader(body)))
	for name, value := range header {
		r.Header.Set(name, strings.ReplaceAll(value, "BEARER", turn.Bearer()))
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	answer := must(client.Do(r))
	defer answer.Body.Close()
	return answer, string(must(io.ReadAll(answer.Body)))
}

var bearing = map[string]string{"x-api-key": "BEARER"}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

const (
	messages = "/v1/messages"
	response = "/v1/responses"
	chat     = "/v1/chat/completions"
	generate = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
)

// TestWhatIsCarried: nothing but requests to the model in the protocols of its provider, by who has the bearer.
func TestWhatIsCarried(t *testing.T) {
	t.Parallel()
	all, bearer, goog := allProtocols, map[string]string{"Authorization": "Bearer BEARER"},
		map[string]string{"x-goog-api-key": "BEARER"}
	for _, c := range []struct {
		name, method, path string
		header             map[string]string
		spoken             []Protocol
		status             int
	}{
		{"messages", "POST", messages + "?beta=true", bearing, []Protocol{Anthropic}, 200},
		{"tokens", "POST", "/v1/messages/count_tokens", bearing, []Protocol{Anthropic}, 200},
		{"a lower bearer", "POST", response, map[string]string{"Authorization": "bearer BEARER"}, all, 200},
		{"chat", "POST", chat, bearer, []Protocol{Chat}, 200},
		{"gemini", "POST", generate + "?alt=sse", goog, []Protocol{Gemini}, 200},
		{"gemini at once", "POST", "/v1beta/models/m:generateContent", goog, []Protocol{Gemini}, 200},
		{"gemini's tokens", "POST", "/v1beta/models/m:countTokens", goog, []Protocol{Gemini}, 200},
		{"vertex", "POST", "/v1beta1/publishers/google/models/m:generateContent", goog, []Protocol{Gemini}, 200},
		{"models", "GET", "/v1/models", bearing, []Protocol{Gemini, Chat}, 200},
		{"another protocol", "POST", response, bearing, []Protocol{Anthropic, Chat, Gemini}, 404},
		{"reading an answer", "GET", response + "/resp_1", bearing, all, 400},
		{"keys", "POST", "/v1/organizations/api_keys", bearing, all, 404},
		{"a model that is tuned", "POST", "/v1beta/tunedModels/m:generateContent", goog, all, 404},
		{"other work of gemini", "POST", "/v1beta/models/m:batchGenerateContent", goog, all, 404},
		{"nobody", "POST", messages, nil, all, 402},
		{"another bearer", "POST", messages, map[string]string{"x-api-key": "BEARER0"}, all, 402},
		{"no bearer, but a password", "POST", messages, map[string]string{"Authorization": "Basic BEARER"}, all, 402},
		{"a web socket", "GET", response, map[string]string{"x-api-key": "BEARER", "Upgrade": "websocket"}, all, 426},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, says(`{"input_tokens":77}`))
			turn := opened(t, p, func(_ *Options, u *Upstream) { u.Protocols = c.spoken })
			answer, body := ask(t, turn, c.method, c.path, "{}", c.header)
			passed := len(p.requests())
			if answer.StatusCode != c.status || passed != map[bool]int{true: 1}[c.status == 200] {
				t.Errorf("status %d, %d requests passed, want %d", answer.StatusCode, passed, c.status)
			}
			if c.status != 200 && !strings.Contains(body, "ralph: ") {
				t.Errorf("it says %q", body)
			}
			if used, asked := turn.Usage(); strings.Contains(c.name, "tokens") && asked {
				t.Errorf("a question about tokens took %+v", used)
			}
		})
	}
}

// TestWhatTheProviderGets: the bearer ends at the gateway, and the key begins there.
func TestWhatTheProviderGets(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("{}"))
	turn := opened(t, p, func(o *Options, up *Upstream) {
		up.Base = up.Base.JoinPath("/team/")
		up.Base.RawQuery = "api-version=7"
		up.Extra = http.Header{"x-team": {"blue"}, "anthropic-beta": {"ours,oauth-2025-04-20"}}
		o.Upstreams = map[string]Upstream{"anthropic": *up}
	})
	sent := map[string]string{"Anthropic-Beta": "oauth-2025-04-20, theirs", "Anthropic-Version": "2023-06-01",
		"X-Team": "red", "X-Forwarded-For": "10.0.0.1", "X-Odd": "it is BEARER", "Connection": "x-api-key",
		"Accept-Encoding": "br"}
	for _, name := range withheld {
		if sent[name] == "" {
			sent[name] = "Bearer BEARER"
		}
	}
	sent["Expect"] = "100-continue"
	body := `{"model":"m","secret":"s"}`
	path := "/anthropic/v1/messages?beta=true&fields=candidates&alt=media&limit=x" + turn.Bearer()
	if answer, text := ask(t, turn, "POST", path, body, sent); text != "{}" {
		t.Fatalf("status %d, %s", answer.StatusCode, text)
	}
	got := p.requests()[0]
	for _, name := range append(withheld, "X-Forwarded-For", "X-Odd", "Connection", "Accept-Encoding") {
		want := map[string]string{"X-Api-Key": theKey, "Accept-Encoding": "identity"}[name]
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	for name, want := range map[string]string{"X-Team": "blue", "Anthropic-Beta": "oauth-2025-04-20,theirs,ours",
		"Anthropic-Version": "2023-06-01"} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	if got.Host != strings.TrimPrefix(p.URL, "http://") || got.RequestURI != "/team/v1/messages?api-version=7&beta=true" ||
		p.told[0] != body {
		t.Errorf("%s %s %s", got.Host, got.RequestURI, p.told[0])
	}
	if strings.Contains(fmt.Sprint(got.Header, got.RequestURI), turn.Bearer()) {
		t.Errorf("the bearer went on: %v", got.Header)
	}
	if !strings.HasPrefix(turn.URL(), "http://127.0.0.1:") || opened(t, p, nil).Bearer() == turn.Bearer() {
		t.Errorf("it listens at %s, or has the bearer of another turn", turn.URL())
	}
}

// TestProviders: several providers of a turn, each with its own key, and one by the proxy that leads out of here.
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, base := range []*url.URL{nil, {}, {Scheme: "file", Host: "x"}} {
		if _, err := Open(Options{Upstreams: map[string]Upstream{"": {Base: base}}}); err == nil {
			t.Errorf("%v was taken", base)
		}
	}
	one, two, rest := newProvider(t, says("{}")), newProvider(t, says("{}")), newProvider(t, says("{}"))
	turn := opened(t, one, func(o *Options, up *Upstream) {
		second := two.upstream(t)
		second.Credentials = []Credential{{"Authorization", "Bearer other"}}
		third := rest.upstream(t)
		via := third.Base
		third.Base = &url.URL{Scheme: "http", Host: "model.invalid"}
		o.Upstreams = map[string]Upstream{"one": *up, "two": second, "": third}
		o.Proxy = func(to *url.URL) (*url.URL, error) {
			if to.Host == third.Base.Host {
				return via, nil
			}
			return nil, nil
		}
	})
	for _, path := range []string{"/one" + messages, "/two" + messages, messages} {
		ask(t, turn, "POST", path, "{}", bearing)
	}
	if answer, _ := ask(t, turn, "POST", "/one/two"+messages, "{}", bearing); answer.StatusCode != 404 {
		t.Error("a path of a path was carried")
	}
	if len(one.requests()) != 1 || len(two.requests()) != 1 || len(rest.requests()) != 1 {
		t.Errorf("%d, %d and %d requests", len(one.requests()), len(two.requests()), len(rest.requests()))
	}
	if got := rest.requests()[0].RequestURI; got != "http://model.invalid/v1/messages" {
		t.Errorf("the proxy was asked for %s", got)
	}
	if h := two.requests()[0].Header; h.Get("Authorization") != "Bearer other" || h.Get("X-Api-Key") != "" {
		t.Errorf("the second got %v", h)
	}
}

// TestRefusal: who may not ask hears why, in the form that ends its run.
func TestRefusal(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("{}"))
	turn := opened(t, p, func(o *Options, _ *Upstream) { o.Limit = Limit{Dollars: 1, Setting: "maxCostUsd"} })
	const why = `the price of the model \"mine\" is not known, so maxCostUsd cannot limit this run: name it in the setting ` +
		`prices, or set maxTokens, maximumIterations or timeoutMinutes instead`
	const plain = "ralph: " + why
	for path, want := range map[string]string{
		messages: `402 {"error":{"message":"` + plain + `","type":"billing_error"},"type":"error"}`,
		response: `400 ` + strings.ReplaceAll(plain, `\`, ""),
		chat:     `402 {"error":{"code":"ralph","message":"` + plain + `","param":null,"type":"billing_error"}}`,
		"/v1beta/models/mine:generateContent": `402 {"error":{"code":402,"message":"` + plain +
			`","status":"FAILED_PRECONDITION"}}`,
	} {
		answer, body := ask(t, turn, "POST", path, `{"model":"mine"}`, bearing)
		if got := fmt.Sprint(answer.StatusCode, " ", body); got != want || len(p.requests()) > 0 {
			t.Errorf("%s: %s\nwant %s, %d requests passed", path, got, want, len(p.requests()))
		}
	}
	if got := turn.Refused(); got != strings.ReplaceAll(why, `\`, "") {
		t.Error(got)
	}
}

// TestAnswersOfTheProvider: what it says of a failure passes; where it leads does not.
func TestAnswersOfTheProvider(t *testing.T) {
	t.Parallel()
	other := newProvider(t, says("{}"))
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int
		says   string
	}{
		{"too many", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		}, 429, "slow down\n"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, 402,
			"not followed"},
		{"not modified", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, 402,
			"not followed"},
		{"leading headers", func(w http.ResponseWriter, _ *http.Request) {
			for _, name := range redirectHeaders {
				w.Header().Set(name, other.URL)
			}
			_, _ = io.WriteString(w, "{}")
		}, 200, "{}"},
		{"its key", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Debug", "key "+theKey)
			for _, piece := range []string{theKey[:4], theKey[4:], " and ", theKey + theKey[:9]} {
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			}
		}, 200, strings.Repeat("*", len(theKey)) + " and " + strings.Repeat("*", len(theKey)) + theKey[:9]},
		{"compressed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, `{"model":"m","usage":{"input_tokens":3,"output_tokens":4}}`)
			_ = z.Close()
		}, 502, "compressed its answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			turn := opened(t, newProvider(t, c.answer), nil)
			answer, body := ask(t, turn, "POST", messages, "{}", bearing)
			if answer.StatusCode != c.status || !strings.Contains(body, c.says) || strings.Contains(fmt.Sprint(answer.Header), theKey) {
				t.Errorf("%d %s", answer.StatusCode, body)
			}
			for _, name := range append(redirectHeaders, "Content-Encoding") {
				if value := answer.Header.Get(name); value != "" {
					t.Errorf("%s: %s", name, value)
				}
			}
			if used, asked := turn.Usage(); c.status == 429 && answer.Header.Get("Retry-After") != "7" || c.status != 200 && asked {
				t.Errorf("when to come again is lost, or usage = %+v", used)
			}
		})
	}
	if len(other.requests()) > 0 {
		t.Error("a redirect was followed")
	}
}

// TestNobodyThere: a provider that is gone is a failure that may pass, and what it says has no key.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("{}"))
	var log bytes.Buffer
	// A port that a connection begins at is taken, and nobody listens there. A port of a server that has closed would
	// soon be that of another one.
	taken := must(net.Dial("tcp", p.Listener.Addr().String()))
	defer taken.Close()
	turn := opened(t, p, func(o *Options, up *Upstream) {
		o.Log = func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) }
		up.Base = &url.URL{Scheme: "http", Host: taken.LocalAddr().String()}
	})
	for range mostTold + 5 {
		answer, body := ask(t, turn, "POST", messages, `{"model":"m","secret":"in the body"}`, bearing)
		if answer.StatusCode != 502 || !strings.Contains(body, `"api_error"`) {
			t.Fatalf("%d %s", answer.StatusCode, body)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != mostTold {
		t.Errorf("%d lines in the log", n)
	}
	for _, secret := range []string{theKey, turn.Bearer(), "in the body"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, log.String())
		}
	}
	if used, asked := turn.Usage(); asked {
		t.Errorf("usage = %+v", used)
	}
}
