package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// upstream is a provider that answers one thing, and notes what it was asked.
type upstream struct {
	*httptest.Server
	asked []*http.Request
	paths []string
}

func newUpstream(t *testing.T, answer http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.asked, u.paths = append(u.asked, r), append(u.paths, r.URL.RequestURI())
		answer(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func open(t *testing.T, u *upstream, change func(*Options, *Upstream)) *Turn {
	t.Helper()
	base, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	up := Upstream{Base: base, Credentials: []Credential{{"x-api-key", "the-key"}},
		Protocols: []Protocol{Anthropic, Responses, Chat, Gemini}}
	o := Options{}
	if change != nil {
		change(&o, &up)
	}
	if o.Upstreams == nil {
		o.Upstreams = map[string]Upstream{"": up}
	}
	turn, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = turn.Close() })
	return turn
}

// ask sends a request as an agent does.
func ask(t *testing.T, turn *Turn, method, path string, header map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, turn.URL()+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, strings.ReplaceAll(value, "BEARER", turn.Bearer()))
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

var shown = map[string]string{"x-api-key": "BEARER"}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }

// TestWhatIsCarried: nothing but requests to the model, by who has the bearer.
func TestWhatIsCarried(t *testing.T) {
	t.Parallel()
	only := func(p Protocol) func(*Options, *Upstream) {
		return func(_ *Options, u *Upstream) { u.Protocols = []Protocol{p} }
	}
	for _, c := range []struct {
		name, method, path string
		header             map[string]string
		change             func(*Options, *Upstream)
		status             int
	}{
		{"messages", "POST", "/v1/messages?beta=true", shown, only(Anthropic), 200},
		{"tokens", "POST", "/v1/messages/count_tokens", shown, only(Anthropic), 200},
		{"responses", "POST", "/v1/responses", map[string]string{"Authorization": "Bearer BEARER"}, only(Responses), 200},
		{"chat", "POST", "/v1/chat/completions", map[string]string{"Authorization": "Bearer BEARER"}, only(Chat), 200},
		{"gemini", "POST", "/v1beta/models/m:streamGenerateContent?alt=sse", map[string]string{"x-goog-api-key": "BEARER"},
			only(Gemini), 200},
		{"vertex", "POST", "/v1beta1/publishers/google/models/m:generateContent", map[string]string{"x-goog-api-key": "BEARER"},
			only(Gemini), 200},
		{"another protocol", "POST", "/v1/responses", shown, only(Anthropic), 404},
		{"reading", "GET", "/v1/messages", shown, nil, 404},
		{"keys", "POST", "/v1/organizations/api_keys", shown, nil, 404},
		{"models", "GET", "/v1/models", shown, nil, 404},
		{"files", "POST", "/v1/files", shown, nil, 404},
		{"a way around", "POST", "/v1/files/../messages/../v1/messages", shown, nil, 404},
		{"nobody", "POST", "/v1/messages", nil, nil, 402},
		{"another bearer", "POST", "/v1/messages", map[string]string{"x-api-key": "BEARER0"}, nil, 402},
		{"another bearer for codex", "POST", "/v1/responses", map[string]string{"Authorization": "Bearer x"}, nil, 400},
		{"a socket", "POST", "/v1/responses", map[string]string{"Authorization": "Bearer BEARER", "Upgrade": "websocket"}, nil,
			426},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, hello)
			status, _ := ask(t, open(t, u, c.change), c.method, c.path, c.header)
			if status != c.status || len(u.asked) != map[bool]int{true: 1}[c.status == 200] {
				t.Errorf("status %d, %d requests passed, want %d", status, len(u.asked), c.status)
			}
		})
	}
}

// TestCredentials: the bearer ends here, and the key begins here.
func TestCredentials(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, hello)
	turn := open(t, u, func(o *Options, up *Upstream) {
		up.Extra = http.Header{"X-Team": {"blue"}}
		o.Upstreams = map[string]Upstream{"anthropic": *up}
	})
	status, _ := ask(t, turn, "POST", "/anthropic/v1/messages?key=BEARER&beta=true", map[string]string{"x-api-key": "BEARER",
		"Authorization": "Bearer BEARER", "X-Goog-Api-Key": "BEARER", "Cookie": "BEARER", "Accept-Encoding": "br",
		"Anthropic-Beta": "oauth-2025-04-20", "X-Forwarded-For": "10.0.0.1"})
	if status != 200 || len(u.asked) != 1 {
		t.Fatalf("status %d, %d requests", status, len(u.asked))
	}
	h := u.asked[0].Header
	for name, want := range map[string]string{"X-Api-Key": "the-key", "Authorization": "", "X-Goog-Api-Key": "", "Cookie": "",
		"Accept-Encoding": "", "Anthropic-Beta": "oauth-2025-04-20", "X-Team": "blue", "X-Forwarded-For": ""} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if u.paths[0] != "/v1/messages?beta=true" || strings.Contains(fmt.Sprint(h, u.paths), turn.Bearer()) {
		t.Errorf("%s %v", u.paths, h)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := newUpstream(t, hello)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	if status, _ := ask(t, open(t, u, nil), "POST", "/v1/messages", shown); status != 502 || len(other.asked) > 0 {
		t.Errorf("status %d, %d requests went elsewhere", status, len(other.asked))
	}
}

// TestErrorsPass: what the provider says of a failure is what the agent hears.
func TestErrorsPass(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	})
	if status, body := ask(t, open(t, u, nil), "POST", "/v1/messages", shown); status != 429 || body != "slow down\n" {
		t.Errorf("%d %s", status, body)
	}
}

// TestRefusals are those that make each CLI stop at once.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/messages":         `402 {"error":{"message":"ralph: it is spent","type":"billing_error"},"type":"error"}`,
		"/v1/responses":        `400 ralph: it is spent`,
		"/v1/chat/completions": `402 {"error":{"code":"budget","message":"ralph: it is spent","type":"insufficient_quota"}}`,
		"/v1beta/models/m:generateContent": `402 {"error":{"code":402,"message":"ralph: it is spent",` +
			`"status":"FAILED_PRECONDITION"}}`,
	} {
		u := newUpstream(t, hello)
		turn := open(t, u, func(o *Options, _ *Upstream) {
			o.Allow = func([]Usage) error { return errors.New("ralph: it is spent") }
		})
		status, body := ask(t, turn, "POST", path, shown)
		if got := fmt.Sprint(status, " ", body); got != want || len(u.asked) > 0 {
			t.Errorf("%s: %s\nwant %s, %d requests passed", path, got, want, len(u.asked))
		}
	}
}

// TestUsage: what each protocol says of what a model took.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, answer string
		want               Usage
	}{
		{"messages, streamed", "/v1/messages", `event: message_start
data: {"type":"message_start","message":{"model":"opus","usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":3}}}

event: message_delta
data: {"type":"message_delta","usage":{"output_tokens":42}}
`, Usage{Model: "opus", Input: 10, CacheRead: 5, CacheWrite: 3, Output: 42}},
		{"messages", "/v1/messages", "{\"model\":\"opus\",\n\"usage\":{\"input_tokens\":10,\n\"output_tokens\":4}}",
			Usage{Model: "opus", Input: 10, Output: 4}},
		{"responses, streamed", "/v1/responses", `event: response.completed
data: {"type":"response.completed","response":{"model":"gpt","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":7}}}}
`, Usage{Model: "gpt", Input: 60, CacheRead: 40, Output: 20, Reasoning: 7}},
		{"chat, streamed", "/v1/chat/completions", `data: {"model":"gpt","choices":[{"delta":{"content":"usage"}}]}

data: {"model":"gpt","choices":[],"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens":20}}

data: [DONE]
`, Usage{Model: "gpt", Input: 60, CacheRead: 40, Output: 20}},
		{"gemini, streamed", "/v1beta/models/pro:streamGenerateContent", `data: {"usageMetadata":{"promptTokenCount":100}}

data: {"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":13,"thoughtsTokenCount":7}}
`, Usage{Model: "pro", Input: 60, CacheRead: 40, Output: 20, Reasoning: 7}},
		{"nothing said", "/v1/messages", "{}", Usage{Model: "unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.answer) })
			turn := open(t, u, func(o *Options, _ *Upstream) {
				o.Prices = Prices{"opus": {Input: 1e6, CacheRead: 2e6, CacheWrite: 3e6, Output: 4e6}}
			})
			for n := int64(1); n <= 2; n++ {
				if status, body := ask(t, turn, "POST", c.path, shown); status != 200 || body != c.answer {
					t.Fatalf("%d %s", status, body)
				}
				want := Usage{Model: c.want.Model, Requests: n, Input: n * c.want.Input, CacheRead: n * c.want.CacheRead,
					CacheWrite: n * c.want.CacheWrite, Output: n * c.want.Output, Reasoning: n * c.want.Reasoning}
				if want.Model == "opus" {
					want.Priced = true
					want.Dollars = float64(want.Input + 2*want.CacheRead + 3*want.CacheWrite + 4*want.Output)
				}
				if got := turn.Usage(); len(got) != 1 || got[0] != want {
					t.Errorf("%d: %+v\nwant %+v", n, got, want)
				}
			}
		})
	}
}

// TestStreams: each piece of an answer is passed on as it comes, and the end of the turn cuts it. What it had said it
// took counts.
func TestStreams(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `data: {"message":{"model":"opus","usage":{"input_tokens":10,"output_tokens":1}}}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	turn := open(t, u, nil)
	r, err := http.NewRequest("POST", turn.URL()+"/v1/messages", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", turn.Bearer())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || !strings.Contains(line, "opus") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := turn.Close(); err != nil {
		t.Error(err)
	}
	<-left
	if got := turn.Usage(); len(got) != 1 || got[0].Input != 10 {
		t.Errorf("usage = %+v", got)
	}
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("it still listens")
	}
}
