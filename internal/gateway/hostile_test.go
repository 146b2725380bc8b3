package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// raw sends bytes as they are and returns the status of each answer. HOST and BEARER in them are the turn's.
func raw(t *testing.T, turn *Turn, text string) []int {
	t.Helper()
	c := must(net.Dial("tcp", strings.TrimPrefix(turn.URL(), "http://")))
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a test that hangs fails
	text = strings.NewReplacer("HOST", strings.TrimPrefix(turn.URL(), "http://"), "BEARER", turn.Bearer()).Replace(text)
	go func() { _, _ = io.WriteString(c, text) }()
	var statuses []int
	r := bufio.NewReader(c)
	for {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		statuses = append(statuses, answer.StatusCode)
		if answer.Close {
			return statuses
		}
	}
}

// TestHostileRequests: whatever is sent, the provider sees requests to a model alone, each with one key, and nobody
// else sees any.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	const head, end = "Host: HOST\r\nx-api-key: BEARER\r\nContent-Length: 2\r\n", "Connection: close\r\n\r\n{}"
	post := func(path string) string { return "POST " + path + " HTTP/1.1\r\n" + head + end }
	with := func(more string) string { return "POST /v1/messages HTTP/1.1\r\n" + head + more + end }
	for _, c := range []struct {
		name, sent string
		status     int // of the first answer
		passed     int
	}{
		{"as it should be", post("/v1/messages"), 200, 1},
		{"dots that lead out", post("/v1/messages/../../admin"), 404, 0},
		{"encoded dots", post("/v1/%2e%2e/v1/messages"), 404, 0},
		{"an encoded slash", post("/v1%2fmessages"), 404, 0},
		{"two slashes", post("//v1/messages"), 404, 0},
		{"a backslash", post(`/v1\messages`), 404, 0},
		{"a zero", post("/v1/messages%00"), 404, 0},
		{"a model with an encoded slash", post("/v1beta/models/..%2f..%2fkeys:generateContent"), 404, 0},
		{"a lower method", "post /v1/messages HTTP/1.1\r\n" + head + end, 404, 0},
		{"another host in the line", post("http://elsewhere.invalid/v1/messages"), 403, 0},
		{"a tunnel", "CONNECT elsewhere.invalid:443 HTTP/1.1\r\nHost: elsewhere.invalid:443\r\nx-api-key: BEARER\r\n" +
			"Connection: close\r\n\r\n", 403, 0},
		{"another host", "POST /v1/messages HTTP/1.1\r\nHost: elsewhere.invalid\r\nx-api-key: BEARER\r\n" +
			"Content-Length: 2\r\n" + end, 200, 1},
		{"a host for the next proxy", with("X-Forwarded-Host: elsewhere.invalid\r\n" +
			"Forwarded: host=elsewhere.invalid\r\n"), 200, 1},
		{"two credentials", with("Authorization: Bearer stolen\r\nCookie: a=b\r\n"), 200, 1},
		{"one header twice", with("x-api-key: stolen\r\n"), 200, 1},
		{"a credential that is hop by hop", with("Connection: x-api-key, authorization\r\n"), 200, 1},
		{"a key in the query", post("/v1/messages?key=BEARER"), 402, 0},
		{"an encoded key", post("/v1/messages?%6bey=x"), 402, 0},
		{"a query that two read in two ways", post("/v1/messages?a=1;key=x"), 402, 0},
		{"another method inside", with("X-HTTP-Method-Override: DELETE\r\n"), 200, 1},
		{"headers without end", with("X-Long: " + strings.Repeat("x", 200<<10) + "\r\n"), 431, 0},
		{"a web socket", with("Connection: upgrade\r\nUpgrade: websocket\r\n"), 426, 0},
		{"length and pieces", "POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nx-api-key: BEARER\r\nContent-Length: 4\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nPOST /v1/files HTTP/1.1\r\n" + head + end, 200, 1},
		{"a folded header", with("X-A: 1\r\n x-api-key: stolen\r\n"), 200, 1},
		{"a second request behind the first", "POST /v1/messages HTTP/1.1\r\n" + head + "\r\n{}" +
			"POST /v1/files HTTP/1.1\r\n" + head + end, 200, 1},
		{"a key in a trailer", "POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nx-api-key: BEARER\r\nTrailer: Authorization\r\n" +
			"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n" +
			"Authorization: Bearer stolen\r\n\r\n", 200, 1},
		{"a body for models", "GET /v1/models HTTP/1.1\r\n" + head + end, 200, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, says("{}"))
			statuses := raw(t, opened(t, p, nil), c.sent)
			if len(statuses) == 0 || statuses[0] != c.status || len(p.requests()) != c.passed {
				t.Fatalf("statuses %v, %d requests passed; want %d, %d", statuses, len(p.requests()), c.status, c.passed)
			}
			for _, r := range p.requests() {
				if r.Host != strings.TrimPrefix(p.URL, "http://") ||
					r.URL.Path != "/v1/messages" && r.URL.Path != "/v1/models" {
					t.Errorf("%s %s was asked", r.Host, r.RequestURI)
				}
				if key := r.Header.Values("X-Api-Key"); len(key) != 1 || key[0] != theKey {
					t.Errorf("x-api-key: %v", key)
				}
				for _, name := range append([]string{"X-Forwarded-Host", "Forwarded"}, withheld...) {
					if value := r.Header.Get(name) + r.Trailer.Get(name); value != "" && name != "X-Api-Key" {
						t.Errorf("%s: %s", name, value)
					}
				}
			}
		})
	}
}

// TestLargeRequests: a body has a bound, said before or not.
func TestLargeRequests(t *testing.T) {
	t.Parallel()
	small := usual
	small.body = 1000
	turn := must(open(Options{Upstreams: map[string]Upstream{"": newProvider(t, says("{}")).upstream(t)}}, small))
	defer turn.Close()
	for size, want := range map[int]int{1000: 200, 1001: 413} {
		body := "{" + strings.Repeat(" ", size-2) + "}"
		head := "POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nx-api-key: BEARER\r\nConnection: close\r\n"
		for _, sent := range []string{fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, size, body),
			fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, size, body)} {
			if got := raw(t, turn, sent); !slices.Equal(got, []int{want}) {
				t.Errorf("%.120q: %v, want %d", sent, got, want)
			}
		}
	}
}
