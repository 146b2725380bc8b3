package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// providers answer everything with the same bytes, and note what they were asked.
type providers struct {
	answer []byte
	asked  []*http.Request
}

func (p *providers) RoundTrip(r *http.Request) (*http.Response, error) {
	p.asked = append(p.asked, r)
	if r.Body != nil {
		_, err := io.Copy(io.Discard, r.Body)
		if _ = r.Body.Close(); err != nil {
			return nil, err
		}
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(p.answer)), r)
}

// hosts are the providers, each with a key of its own.
var hosts = map[string]struct {
	name, base, key string
	protocols       []Protocol
}{
	"one.test": {"", "https://one.test", "KEY-OF-ONE", []Protocol{Anthropic, Responses, Chat}},
	"two.test": {"g", "https://two.test/below", "KEY-OF-TWO", []Protocol{Gemini}},
}

// turnTo is a turn that asks them.
func turnTo(t testing.TB, to *providers) *Turn {
	t.Helper()
	turn := &Turn{limits: usual, bearer: "ralph-turn-1234", ways: map[string]*upstream{}, ledger: newLedger(Prices{}, Limit{}, func(string) {}),
		tell: func(string, ...any) {}, told: &sync.Map{}}
	turn.limits.body = 1 << 10
	for _, h := range hosts {
		up := Upstream{Base: must(url.Parse(h.base)), Credentials: []Credential{{"x-api-key", h.key}}, Protocols: h.protocols}
		turn.ways[h.name] = newWay(up, turn.bearer, to, turn.limits, turn.tell)
	}
	return turn
}

// answerTo has a turn answer a request; ok is false when that is no request.
func answerTo(turn *Turn, request []byte) (answer *httptest.ResponseRecorder, ok bool) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return nil, false
	}
	answer = httptest.NewRecorder()
	defer func() {
		p := recover()
		if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(p)
		}
	}()
	turn.ServeHTTP(answer, r.WithContext(context.Background()))
	return answer, true
}

// FuzzPass: whatever an agent asks and a provider answers, a key goes to its own provider alone and only for who shows
// the bearer, on a path that models are asked on; no answer leads elsewhere or has a key in it that the provider has
// not written; and what it took is a sum.
func FuzzPass(f *testing.F) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	ask := func(line string, headers ...string) []byte {
		return []byte(line + " HTTP/1.1\r\nHost: x\r\nX-Api-Key: ralph-turn-1234\r\n" + strings.Join(headers, "\r\n") +
			"\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}")
	}
	for _, answer := range []string{ok + messageStart + messageText + messageEnd,
		"HTTP/1.1 302 Found\r\nLocation: http://evil.test\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b",
		"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		ok + `{"usage":{"input_tokens":-1e400,"output_tokens":9223372036854775807,"cache_read_input_tokens":1e30}}`, ""} {
		f.Add(ask("POST /v1/messages"), []byte(answer))
	}
	for _, request := range [][]byte{ask("POST /g/v1beta/models/m:generateContent?key=KEY&alt=sse",
		"Connection: x-api-key"),
		ask("POST /g/v1beta/models/ralph-turn-1234:generateContent"), ask("POST /g/../v1/messages"),
		ask("POST //evil.test/v1/messages"), ask("POST http://evil.test/v1/messages"),
		ask("GET /v1/models?limit=ralph-turn-1234", "X-Forwarded-Host: evil.test", "Upgrade:"),
		ask("CONNECT evil.test:443"),
		ask("POST /v1/responses", "Authorization: Bearer ralph-turn-1234", "X-Other: ralph-turn-1234"),
		[]byte("POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-Goog-Api-Key: ralph-turn-1234\r\n" +
			"\r\nffff\r\n"),
		[]byte("POST /v1/messages HTTP/1.0\r\n\r\n")} {
		f.Add(request, []byte(ok+"data: {}\n\n"))
	}
	f.Fuzz(func(t *testing.T, request, answer []byte) {
		to := &providers{answer: answer}
		turn := turnTo(t, to)
		got, ok := answerTo(turn, request)
		if !ok {
			return
		}
		for _, r := range to.asked {
			if why := misled(r, request, turn.bearer); why != "" {
				t.Errorf("%q asks %s %s: %s", request, r.Method, r.URL, why)
			}
		}
		if got == nil { // the connection is cut
			return
		}
		if got.Code < 200 || got.Code >= 300 && got.Code < 400 {
			t.Errorf("%q is answered by %d", answer, got.Code)
		}
		for _, name := range redirectHeaders {
			if got.Header().Get(name) != "" {
				t.Errorf("%q is answered with %s", answer, name)
			}
		}
		all := fmt.Sprint(got.Header()) + got.Body.String()
		if strings.Contains(all, "KEY-OF-") && !bytes.Contains(append(request, answer...), []byte("KEY-OF-")) {
			t.Errorf("%q has a key", all)
		}
		if u, _ := turn.Usage(); min(u.Input, u.CacheRead, u.CacheWrite, u.Output) < 0 ||
			max(u.Input, u.Output) > 8*mostTokens || math.IsNaN(u.CostUSD) || u.CostUSD < 0 {
			t.Errorf("%q took %+v", answer, u)
		}
	})
}

// misled says what is wrong with a request to a provider.
func misled(r *http.Request, request []byte, bearer string) string {
	h, known := hosts[r.URL.Host]
	base, _ := url.Parse(h.base)
	below, within := strings.CutPrefix(r.URL.Path, base.Path+"/v1")
	sent := fmt.Sprint(r.Header, r.URL, r.Trailer)
	switch {
	case !known || r.URL.Scheme != "https" || r.Host != "" && r.Host != r.URL.Host || r.URL.User != nil:
		return "of somebody else"
	case !within || path.Clean(r.URL.Path) != r.URL.Path || r.URL.RawPath != "" || strings.ContainsAny(below, "\\%;"):
		return "elsewhere"
	case !slices.Equal(r.Header["X-Api-Key"], []string{h.key}) || strings.Count(sent, "KEY-OF-") != 1 &&
		!bytes.Contains(request, []byte("KEY-OF-")):
		return "with another key"
	case !bytes.Contains(request, []byte(bearer)):
		return "and no bearer was shown"
	case strings.Contains(sent, bearer):
		return "with the bearer"
	case r.Header.Get("Upgrade") != "" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "":
		return "with more than is asked"
	}
	return ""
}
