package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSpendIsReserved: however many ask at once, a turn never spends more than its limit and one answer, and it spends
// the limit; what waits is answered as soon as it fits.
func TestSpendIsReserved(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		messages: `{"model":"m","usage":{"input_tokens":%d,"output_tokens":1000}}`,
		response: `{"model":"m","usage":{"input_tokens":%d,"output_tokens":1000}}`,
		chat:     `{"model":"m","usage":{"prompt_tokens":%d,"completion_tokens":1000}}`,
		"/v1beta/models/m:generateContent": `{"modelVersion":"m","usageMetadata":{"promptTokenCount":%d,` +
			`"candidatesTokenCount":1000}}`,
	}
	asks := map[string]string{messages: `"max_tokens":1000`, response: `"max_output_tokens":1000`,
		chat: `"max_completion_tokens":500,"n":2`, "/v1beta/models/m:generateContent": `"generationConfig":{"maxOutputTokens":1000}`}
	prices := Prices{Models: map[string]Price{"m": {Input: 1, CacheRead: 1, Output: 100}}}
	for path, answer := range answers {
		for _, c := range []struct {
			name   string
			limit  Limit
			most   float64 // of what the limit bounds: itself and one answer
			output bool    // the request bounds its answer
		}{
			{"dollars", Limit{Dollars: 1}, 1 + 0.101, true}, {"tokens", Limit{Tokens: 20000}, 20000 + 1200, true},
			{"answers without a bound", Limit{Dollars: 1}, 1 + 0.101, false},
		} {
			for _, n := range []int{1, 60} {
				t.Run(fmt.Sprintf("%s, %s, %d at once", path, c.name, n), func(t *testing.T) {
					t.Parallel()
					var together, most atomic.Int64
					p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
						now := together.Add(1)
						for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
						}
						time.Sleep(time.Millisecond)
						together.Add(-1)
						_, _ = fmt.Fprintf(w, answer, 100)
					})
					turn := opened(t, p, func(o *Options, _ *Upstream) { o.Limit, o.Prices = c.limit, prices })
					body := `{"model":"m"`
					if c.output {
						body += "," + asks[path]
					}
					body += strings.Repeat(" ", 400) + "}"
					var passed atomic.Int64
					var asking sync.WaitGroup
					for range n {
						asking.Go(func() {
							if answer, _ := ask(t, turn, "POST", path, body, bearing); answer.StatusCode == 200 {
								passed.Add(1)
							}
						})
					}
					asking.Wait()
					u, _ := turn.Usage()
					spent := u.CostUSD
					if c.limit.Tokens > 0 {
						spent = float64(u.Tokens())
					}
					if spent > c.most || n >= 60 && spent < c.most*0.85 || int(passed.Load()) != len(p.requests()) ||
						n == 1 && passed.Load() != 1 {
						t.Errorf("spent %.3f, at most %.3f; %d passed", spent, c.most, passed.Load())
					}
					if full := turn.Refused() != ""; full != (n >= 60) || c.output && n >= 60 && most.Load() < 2 {
						t.Errorf("refused: %q, %d at once", turn.Refused(), most.Load())
					}
				})
			}
		}
	}
}

// TestWaitingEnds: one that waits until its reservation fits leaves with its client.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	p, more, _ := dripping(t)
	turn := opened(t, p, func(o *Options, _ *Upstream) {
		o.Limit, o.Prices = Limit{Dollars: 1}, Prices{Models: map[string]Price{"m": {Input: 1, Output: 100}}}
	})
	go func() { more <- messageStart }()
	begin(t, t.Context(), turn, messages, `{"model":"m"}`)
	r, _ := http.NewRequest("POST", turn.URL()+messages, strings.NewReader(`{"model":"m"}`))
	r.Header.Set("x-api-key", turn.Bearer())
	if answer, err := (&http.Client{Timeout: 50 * time.Millisecond}).Do(r); err == nil {
		_ = answer.Body.Close()
		t.Errorf("%s, while the first may still spend everything", answer.Status)
	}
	close(more)
	if answer, _ := ask(t, turn, "POST", messages, `{"model":"m"}`, bearing); answer.StatusCode != 200 {
		t.Errorf("%s after the first has ended", answer.Status)
	}
}

// TestEstimate: what a request is taken to read is what the last one of its model has read and what is new.
func TestEstimate(t *testing.T) {
	t.Parallel()
	l := newLedger(Prices{}, Limit{Tokens: 1000}, func(string) {})
	of := func(bytes int64) *account {
		return &account{ledger: l, asked: bytes, output: 10, tally: tally{protocol: Anthropic, asked: "m"}}
	}
	for _, step := range []struct{ bytes, settles, want int64 }{{400, 0, 110}, {400, 300, 110}, {800, 0, 410}, {200, 0, 60}} {
		a := of(step.bytes)
		if _, err := l.admit(a, ""); err != nil || l.held[a].Tokens() != step.want {
			t.Errorf("%+v: %+v, %v", step, l.held[a], err)
		}
		if step.settles > 0 {
			a.tally.input, a.tally.known = step.settles, true
			l.close(a)
		}
		l.release(a)
	}
}

// TestWhatCannotBeCounted: what runs at the provider is removed from a request or refuses it, and a setting lets it
// through.
func TestWhatCannotBeCounted(t *testing.T) {
	t.Parallel()
	const function = `{"type":"function","name":"f"}`
	for _, c := range []struct {
		name, method, path, body, want string // want "": it is refused
		through                        string // what lets it pass as it is
	}{
		{"nothing of that", "POST", messages, `{ "model":"gpt-5.5", "tools": [{"name":"Bash","input_schema":{"type":"web_search"}},` +
			`{"type":"bash_20250124","name":"bash"}]}`, "=", ""},
		{"claude's search", "POST", messages, `{"model":"gpt-5.5","tools":[{"type":"web_search_20250305","name":"web_search"}],` +
			`"tool_choice":{"type":"tool","name":"web_search"}}`, `{"model":"gpt-5.5"}`, "web_search"},
		{"claude's servers", "POST", messages, `{"model":"gpt-5.5","mcp_servers":[{"url":"x"}],"tools":[{"type":"custom"}]}`,
			`{"model":"gpt-5.5","tools":[{"type":"custom"}]}`, "mcp_servers"},
		{"codex's tools", "POST", response, `{"model":"gpt-5.5","tools":[` + function + `,{"type":"web_search"},` +
			`{"type":"custom","name":"apply_patch"}],"tool_choice":"auto"}`, `{"model":"gpt-5.5","tools":[` + function +
			`,{"type":"custom","name":"apply_patch"}],"tool_choice":"auto"}`, "web_search"},
		{"one with escapes", "POST", response, `{"model":"gpt-5.5","to\u006fls":[{"t\u0079pe":"\u006dcp"},` + function + `]}`,
			`{"model":"gpt-5.5","to\u006fls":[` + function + `]}`, "mcp"},
		{"chat's search", "POST", chat, `{"model":"gpt-5.5","web_search_options":{}}`, `{"model":"gpt-5.5"}`,
			"web_search_options"},
		{"gemini's search", "POST", generate, `{"tools":[{"googleSearch":{}},{"functionDeclarations":[],"urlContext":{}}]}`,
			`{"tools":[{"functionDeclarations":[]}]}`, ""},
		{"said twice", "POST", response, `{"model":"gpt-5.5","background":false,"background":true}`, "", ""},
		{"a tool said twice", "POST", response, `{"model":"gpt-5.5","tools":[{"type":"function","type":"mcp"}]}`, "", ""},
		{"no JSON", "POST", response, `{'model':1}`, "", ""},
		{"background", "POST", response, `{"model":"gpt-5.5","background":true}`, "", "background"},
		{"priority", "POST", response, `{"model":"gpt-5.5","service_tier":"priority"}`, "", "priority"},
		{"reading an answer", "GET", response + "/resp_1", "", "", "background"},
		{"batches", "POST", "/v1/messages/batches", `{}`, "", "batches"},
		{"batches of OpenAI", "GET", "/v1/batches/b_1", "", "", "batches"},
		{"a picture elsewhere", "POST", messages, `{"model":"gpt-5.5","messages":[{"content":[{"type":"tool_result","content":` +
			`[{"type":"image","source":{"type":"url","url":"http://x"}}]}]}]}`, "", "url_sources"},
		{"a file elsewhere", "POST", response, `{"model":"gpt-5.5","input":[{"content":[{"type":"input_file","file_url":" HTTPS://x"}]}]}`,
			"", "url_sources"},
		{"a picture of chat", "POST", chat, `{"model":"gpt-5.5","messages":[{"content":[{"image_url":{"url":"https://x"}}]}]}`, "",
			"url_sources"},
		{"a file of gemini", "POST", generate, `{"contents":[{"parts":[{"file_data":{"file_uri":"https://x"}}]}]}`, "",
			"url_sources"},
		{"an address that a tool gets", "POST", messages, `{"model":"gpt-5.5","messages":[{"content":[{"type":"tool_use",` +
			`"input":{"image_url":"https://x","content":"http://y"}},{"type":"text","text":"{\"url\":\"http://x\"}"}]}]}`, "=", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, through := range slices.Compact([]string{"", c.through}) {
				p := newProvider(t, says("{}"))
				var lines atomic.Int64
				turn := opened(t, p, func(o *Options, _ *Upstream) {
					o.Limit, o.Through = Limit{Dollars: 1, Setting: "maxCostUsd"}, []string{through}
					o.Log = func(string, ...any) { lines.Add(1) }
				})
				for range 2 {
					_, said := ask(t, turn, c.method, c.path, c.body, bearing)
					if want := c.want; through == "" && want == "" && !strings.HasPrefix(said, "ralph: ") &&
						!strings.Contains(said, `"ralph: `) {
						t.Errorf("it says %q", said)
					}
				}
				want, logged := c.want, int64(0)
				if want == "=" || through != "" {
					want = c.body
				} else if want != "" {
					logged = int64(strings.Count(c.name, "gemini's search") + 1)
				}
				if got := strings.Join(p.told, " "); want != "" && got != want+" "+want || (want == "" && through == "") !=
					(len(p.told) == 0) || lines.Load() != logged {
					t.Errorf("through %q: passed %q, want %q twice; %d lines in the log", through, got, want, lines.Load())
				}
			}
		})
	}
}

// TestOrganization: an agent does not say for whom its requests count; its user may.
func TestOrganization(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		extra   string
		through []string
		want    string
	}{{"", nil, ""}, {"", []string{"organization"}, "theirs"}, {"ours", nil, "ours"}} {
		p := newProvider(t, says("{}"))
		turn := opened(t, p, func(o *Options, up *Upstream) {
			o.Through = c.through
			if c.extra != "" {
				up.Extra = http.Header{"OpenAI-Organization": {c.extra}}
			}
		})
		ask(t, turn, "POST", chat, "{}", map[string]string{"x-api-key": "BEARER", "OpenAI-Organization": "theirs"})
		if got := p.requests()[0].Header.Get("OpenAI-Organization"); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
