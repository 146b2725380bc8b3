package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Usage is what a model took. Input is without what its cache had; Output has the Reasoning.
type Usage struct {
	Model                                                     string
	Requests, Input, CacheRead, CacheWrite, Output, Reasoning int64
	Estimated                                                 bool // an answer was cut before it said what it took
	Dollars                                                   float64
	Priced                                                    bool
}

// Price is what a million tokens cost, in dollars.
type Price struct{ Input, CacheRead, CacheWrite, Output float64 }

// Prices are by model.
type Prices map[string]Price

// speaks is the protocol of a request to a model; "" it is none.
func speaks(method, path string) Protocol {
	if method != http.MethodPost {
		return ""
	}
	switch {
	case strings.Contains(path, "//"), strings.Contains(path, ".."):
		return ""
	case strings.HasSuffix(path, "/v1/messages"), strings.HasSuffix(path, "/v1/messages/count_tokens"):
		return Anthropic
	case strings.HasSuffix(path, "/v1/responses"):
		return Responses
	case strings.HasSuffix(path, "/v1/chat/completions"):
		return Chat
	}
	_, verb, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if strings.Contains(path, "/models/") &&
		(verb == "generateContent" || verb == "streamGenerateContent" || verb == "countTokens") {
		return Gemini
	}
	return ""
}

// modelOf is the model that Gemini's paths name.
func modelOf(path string) string {
	name, _, named := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !named {
		return ""
	}
	return name
}

func refusal(p Protocol, why string) string {
	var body any
	switch p {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": "billing_error", "message": why}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": 402, "message": why, "status": "FAILED_PRECONDITION"}}
	default:
		body = map[string]any{"error": map[string]any{"message": why, "type": "insufficient_quota", "code": "budget"}}
	}
	text, _ := json.Marshal(body) // strings and numbers
	return string(text)
}

// mostLine is how much of a line of an answer is looked at: what it took stands in short ones, or at the end.
const mostLine = 4 << 20

// meter reads in an answer that passes what it took.
type meter struct {
	io.ReadCloser
	turn     *Turn
	protocol Protocol
	model    string
	line     []byte
	told     Usage
	ended    bool
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if len(m.line)+len(line) <= mostLine {
			m.line = append(m.line, line...)
		}
		if whole && m.streamed() {
			m.look()
		}
		rest = after
	}
	if err != nil {
		m.end()
	}
	return n, err
}

// Close implements io.Closer.
func (m *meter) Close() error {
	m.end()
	return m.ReadCloser.Close()
}

// streamed reports whether the line is one of a stream of events; else the answer is one document.
func (m *meter) streamed() bool {
	line := bytes.TrimSpace(m.line)
	return len(line) == 0 || bytes.HasPrefix(line, []byte("data:")) || bytes.HasPrefix(line, []byte("event:")) ||
		bytes.HasPrefix(line, []byte(":")) || bytes.HasPrefix(line, []byte("id:"))
}

// look takes what a line says of tokens.
func (m *meter) look() {
	text := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(m.line), []byte("data:")))
	if bytes.Contains(text, []byte(`sage`)) && gjson.ValidBytes(text) {
		m.read(gjson.ParseBytes(text))
	}
	m.line = m.line[:0]
}

func (m *meter) read(v gjson.Result) {
	for _, at := range []string{"message.model", "response.model", "model", "modelVersion"} {
		if name := v.Get(at).Str; name != "" && m.protocol != Gemini {
			m.model = name
			break
		}
	}
	u := &m.told
	set := func(to *int64, from gjson.Result) {
		if from.Exists() {
			*to = from.Int()
		}
	}
	switch m.protocol {
	case Anthropic:
		for _, used := range []gjson.Result{v.Get("message.usage"), v.Get("usage")} {
			set(&u.Input, used.Get("input_tokens"))
			set(&u.Output, used.Get("output_tokens"))
			set(&u.CacheRead, used.Get("cache_read_input_tokens"))
			set(&u.CacheWrite, used.Get("cache_creation_input_tokens"))
		}
	case Responses:
		used := v.Get("response.usage")
		if !used.Exists() {
			used = v.Get("usage")
		}
		m.inclusive(used, "input_tokens", "input_tokens_details.cached_tokens", "output_tokens",
			"output_tokens_details.reasoning_tokens")
	case Chat:
		m.inclusive(v.Get("usage"), "prompt_tokens", "prompt_tokens_details.cached_tokens", "completion_tokens",
			"completion_tokens_details.reasoning_tokens")
	case Gemini:
		if used := v.Get("usageMetadata"); used.Exists() {
			u.CacheRead, u.Reasoning = used.Get("cachedContentTokenCount").Int(), used.Get("thoughtsTokenCount").Int()
			u.Input = used.Get("promptTokenCount").Int() - u.CacheRead
			u.Output = used.Get("candidatesTokenCount").Int() + u.Reasoning
		}
	}
}

// inclusive reads an account in which the input has what the cache had, and the output the reasoning.
func (m *meter) inclusive(used gjson.Result, input, cached, output, reasoning string) {
	if !used.IsObject() {
		return
	}
	m.told.CacheRead, m.told.Reasoning = used.Get(cached).Int(), used.Get(reasoning).Int()
	m.told.Input, m.told.Output = used.Get(input).Int()-m.told.CacheRead, used.Get(output).Int()
}

// end books the answer, once.
func (m *meter) end() {
	if m.ended {
		return
	}
	m.ended = true
	m.look()
	u := m.told
	u.Model, u.Requests = cmp.Or(m.model, "unknown"), 1
	if price, ok := m.turn.o.Prices[u.Model]; ok {
		u.Priced = true
		u.Dollars = (float64(u.Input)*price.Input + float64(u.CacheRead)*price.CacheRead +
			float64(u.CacheWrite)*price.CacheWrite + float64(u.Output)*price.Output) / 1e6
	}
	m.turn.book(u)
}

// book adds what an answer took to its model's.
func (t *Turn) book(u Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.used {
		if at := &t.used[i]; at.Model == u.Model {
			at.Requests, at.Input, at.CacheRead = at.Requests+u.Requests, at.Input+u.Input, at.CacheRead+u.CacheRead
			at.CacheWrite, at.Output = at.CacheWrite+u.CacheWrite, at.Output+u.Output
			at.Reasoning, at.Dollars = at.Reasoning+u.Reasoning, at.Dollars+u.Dollars
			at.Priced, at.Estimated = at.Priced && u.Priced, at.Estimated || u.Estimated
			return
		}
	}
	t.used = append(t.used, u)
}
