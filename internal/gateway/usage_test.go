package gateway

import (
	"cmp"
	"io"
	"maps"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

const (
	messageStart = `data: {"type":"message_start","message":{"model":"opus","content":[],"usage":{"input_tokens":10,` +
		`"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,` +
		`"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":2}}}}` + "\n\n"
	messageText = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"twelve bytes"}}` +
		"\n\n"
	messageEnd = `data: {"type":"message_delta","delta":{},"usage":{"output_tokens":42}}` + "\n\n" +
		`data: {"type":"message_stop"}` + "\n\n"
)

// stream is a stream of events.
func stream(events ...string) string {
	for i, e := range events {
		events[i] = "event: x\ndata: " + e + "\n\n"
	}
	return strings.Join(events, "")
}

// TestUsage: what each protocol says of what a model took, by pieces of each size.
func TestUsage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`a \"usage\":{} \\`, 5000)
	for _, c := range []struct {
		name, path, request, answer, model string // the one whose price counts; "" none
		want                               loop.Usage
	}{
		{"messages, streamed", messages, "", messageStart + messageText + messageEnd,
			"opus", loop.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, Output: 42}},
		{"all said again, with other line ends", messages, "", strings.ReplaceAll(messageStart+stream(
			`{"type":"message_delta","usage":{"input_tokens":11,"cache_read_input_tokens":6,`+
				`"cache_creation_input_tokens":null,"output_tokens":42}}`), "\n", "\r\n"),
			"opus", loop.Usage{Input: 11, CacheRead: 6, CacheWrite: 3, Output: 42}},
		{"an event of several lines", messages, "", "data: {\"type\":\"message\",\ndata: \"model\":\"opus\",\n" +
			"data:\"usage\":\ndata: {\"input_tokens\":1,\"output_tokens\":2}}\n\n",
			"opus", loop.Usage{Input: 1, Output: 2}},
		{"messages at once", messages, "", "{\"model\":\"opus\",\n\"content\":[{\"usage\":{\"input_tokens\":99}},\"" + long +
			"\"],\"usage\":{\"input_tokens\":10,\n\"output_tokens\":4}}", "opus", loop.Usage{Input: 10, Output: 4}},
		{"the name with a date", messages, `{"max":1,"model":"opus"}`,
			`{"model":"opus-20250514","usage":{"input_tokens":1,"output_tokens":2}}`,
			"opus", loop.Usage{Input: 1, Output: 2}},
		{"responses, streamed, long", response, "", stream(`{"response":{"model":"gpt","usage":null}}`,
			`{"type":"response.completed","response":{"model":"gpt","output":["`+long+`"],"usage":{"input_tokens":100,`+
				`"input_tokens_details":{"cached_tokens":40,"cache_write_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":7}}}}`),
			"gpt", loop.Usage{Input: 50, CacheRead: 40, CacheWrite: 10, Output: 20}},
		{"responses at once", response, "", `{"model":"gpt","usage":{"input_tokens":100,"output_tokens":20}}`,
			"gpt", loop.Usage{Input: 100, Output: 20}},
		{"chat, streamed", chat, "", stream(`{"model":"gpt","choices":[{"delta":{"content":"usage"}}],"usage":null}`,
			`{"model":"gpt","choices":[],"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40},`+
				`"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":7}}}`, "[DONE]"),
			"gpt", loop.Usage{Input: 60, CacheRead: 40, Output: 20}},
		{"chat that does not say it", chat, `{"model":"gpt","x":"123456"}`,
			stream(`{"choices":[{"delta":{"content":"twelve bytes"}}]}`, "[DONE]"),
			"gpt", loop.Usage{Input: 7, Output: 3}},
		{"gemini, streamed", generate, `{"model":"another"}`, stream(`{"usageMetadata":{"promptTokenCount":100}}`,
			`{"modelVersion":"gemini-2.5-pro","usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,`+
				`"candidatesTokenCount":13,"thoughtsTokenCount":7,"toolUsePromptTokenCount":2}}`),
			"gemini-2.5-pro", loop.Usage{Input: 62, CacheRead: 40, Output: 20}},
		{"gemini as a list", generate, "", `[{"usageMetadata":{"promptTokenCount":100}}` + "\n,\r\n" +
			`{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":13}}]`,
			"gemini-2.5-pro", loop.Usage{Input: 100, Output: 13}},
		{"nothing but an error", messages, `{"model":"opus"}`,
			stream(`{"type":"error","error":{"type":"overloaded_error"}}`), "opus", loop.Usage{}},
		{"an error without an object", response, `{"model":"gpt"}`, stream(`{"type":"error","code":"overloaded"}`), "gpt", loop.Usage{}},
		{"a document that breaks off in a number", messages, "{  }", `{"model":"m","usage":{"input_tokens":1,"output_tokens":12`,
			"", loop.Usage{Input: 1, Output: 14}},
		{"a stream that ends too early", messages, "", messageStart + messageText + messageText,
			"opus", loop.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, Output: 6}},
		{"absurd numbers", messages, "",
			`{"model":"m","usage":{"input_tokens":-5,"output_tokens":1e300,"cache_read_input_tokens":"x"}}`,
			"m", loop.Usage{Output: mostTokens}},
		{"no JSON", messages, "{  }", `[[[[{"usage":}}}]] not at all`,
			"", loop.Usage{Input: 1, Output: 7}},
		{"nothing", messages, `{"a":12}`, "", "", loop.Usage{Input: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 3, 7, 100, 1 << 20} {
				ledger := newLedger(Prices{Models: map[string]Price{cmp.Or(c.model, "none"): {Input: 1e6, CacheRead: 2e6, CacheWrite: 4e6, Output: 8e6}}},
					Limit{}, func(string) {})
				call, _ := gate("POST", c.path, allProtocols)
				asked, _, err := readRequest(call, []byte(cmp.Or(c.request, "{}")), nil)
				if err != nil {
					t.Fatal(err)
				}
				a := &account{ledger: ledger, asked: int64(len(c.request)), tally: tally{protocol: call.protocol, asked: asked.model}}
				passed, err := io.ReadAll(newMeter(io.NopCloser(pieces(c.answer, size)), a, usual.idle, func() {}))
				if err != nil || string(passed) != c.answer {
					t.Fatalf("%d bytes passed, %v", len(passed), err)
				}
				want := c.want
				if c.model != "" {
					hour := int64(0)
					if strings.Contains(c.answer, "1h_input") {
						hour = 2
					}
					want.CostUSD = float64(want.Input + 2*want.CacheRead + 4*(want.CacheWrite-hour) + 2*hour + 8*want.Output)
				}
				if got, asked := ledger.usage(); !asked || got != want {
					t.Errorf("in pieces of %d: %+v\nwant %+v", size, got, want)
				}
			}
		})
	}
}

// pieces reads a text in pieces of a size.
func pieces(text string, size int) io.Reader { return &slow{text, size} }

type slow struct {
	text string
	size int
}

func (s *slow) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// TestSeveralModels: the sum is of every model, by its own price; with one that has none, no sum of money is known.
func TestSeveralModels(t *testing.T) {
	t.Parallel()
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"model":"`+r.Header.Get("Model")+`","usage":{"input_tokens":1000000,"output_tokens":1}}`)
	})
	turn := opened(t, p, func(o *Options, _ *Upstream) {
		o.Prices = Prices{Models: maps.Clone(List().Models)}
		o.Prices.Models["mine"] = Price{Input: 7}
	})
	for _, c := range []struct {
		model string
		cost  float64 // of all until then
	}{
		{"mine", 7}, {"claude-sonnet-4-6-20260217", 7 + 3 + 15e-6}, {"mine", 14 + 3 + 15e-6},
		{"claude-sonnet-4-5-20250929", 14 + 3 + 15e-6 + 2*3 + 1.5*15e-6}, // a long request
		{"nobody's", 0},
	} {
		ask(t, turn, "POST", messages, "{}", map[string]string{"x-api-key": "BEARER", "Model": c.model})
		if used, _ := turn.Usage(); math.Abs(used.CostUSD-c.cost) > 1e-9 {
			t.Errorf("after %s: %+v, want %f dollars", c.model, used, c.cost)
		}
	}
	if used, _ := turn.Usage(); used.Input != 5e6 || used.Output != 5 {
		t.Errorf("%+v", used)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for model, like := range map[string]string{
		"claude-opus-4-1":                      "claude-opus-4-1",
		"claude-opus-4-20250514":               "claude-opus-4",
		"claude-opus-4-99":                     "",
		"claude-opus-4.9":                      "",
		"anthropic/claude-sonnet-4-5@20250929": "claude-sonnet-4-5",
		"gpt-5-mini-2025-08-07":                "gpt-5-mini",
		"gpt-5-audio":                          "",
		"gpt-5.99":                             "",
		"gpt-4o-latest":                        "gpt-4o",
		"gemini-2.5-pro-preview-06-05":         "gemini-2.5-pro",
		"gemini-2.5-flash-lite":                "gemini-2.5-flash-lite",
		"gemini-2.0-flash-001":                 "gemini-2.0-flash",
		"llama":                                "",
		"":                                     "",
	} {
		got, ok := Prices{}.Of(model)
		if want := List().Models[like]; got != want || ok != (like != "") {
			t.Errorf("%s: %+v, %v, want that of %q", model, got, ok, like)
		}
	}
	own := Prices{Own: map[string]Price{"mine-1": {Input: 9}, "gpt-5": {Input: 8}, "azure/gpt-4o": {Input: 7}}}
	for model, want := range map[string]float64{"mine-1": 9, "corp/mine-1-latest": 9, "mine-12": 0, "gpt-5": 8,
		"gpt-5-2025-08-07": 8, "gpt-5-mini": List().Models["gpt-5-mini"].Input, "azure/gpt-4o": 7,
		"gpt-4o": List().Models["gpt-4o"].Input} {
		if got, ok := own.Of(model); got.Input != want || ok != (want > 0) {
			t.Errorf("%s: %+v, %v, want %v", model, got, ok, want)
		}
	}
	if List().Date == "" || len(List().Models) < 30 {
		t.Error(List())
	}
	for model, p := range List().Models {
		if p.Input <= 0 || p.Output < p.Input || p.CacheRead <= 0 || p.CacheRead > p.Input {
			t.Errorf("%s: %+v", model, p)
		}
	}
}
