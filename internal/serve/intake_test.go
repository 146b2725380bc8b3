package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
)

func signature(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// anIntake has the secret "s", and stores nothing.
func anIntake() *intake {
	return &intake{secrets: func(context.Context) ([]string, error) { return []string{"s"}, nil },
		keep:  func(context.Context, store.Delivery) (bool, error) { return true, nil },
		count: func(string) {}, wake: func() {}, log: func(string, ...any) {}, clock: time.Now, reading: newReading()}
}

// TestIntake: what GitHub signed is stored once before it is answered, and nothing else is stored.
func TestIntake(t *testing.T) {
	const body = `{"action":"labeled"}`
	good := signature(body, "new")
	for _, c := range []struct {
		name, method, event, id, signature, body string
		broken                                   error
		status                                   int
		counted                                  string
		stored                                   int
	}{
		{"a delivery", "POST", "issues", "d-1", good, body, nil, 202, taken, 1},
		{"the secret before", "POST", "issues", "d-1", signature(body, "old"), body, nil, 202, taken, 1},
		{"of another secret", "POST", "issues", "d-1", signature(body, "x"), body, nil, 401, forged, 0},
		{"of the empty secret", "POST", "issues", "d-1", signature(body, ""), body, nil, 401, forged, 0},
		{"of another body", "POST", "issues", "d-1", good, body + " ", nil, 401, forged, 0},
		{"without a signature", "POST", "issues", "d-1", "", body, nil, 401, forged, 0},
		{"a short signature", "POST", "issues", "d-1", "sha256=00", body, nil, 401, forged, 0},
		{"no hexadecimal digits", "POST", "issues", "d-1", "sha256=" + strings.Repeat("x", 64), body, nil, 401, forged, 0},
		{"an event that nobody asked for", "POST", "star", "d-1", good, body, nil, 204, ignored, 0},
		{"without an id", "POST", "issues", "", good, body, nil, 400, "", 0},
		{"an id of another kind", "POST", "issues", "../x", good, body, nil, 400, "", 0},
		{"a look", "GET", "issues", "d-1", good, "", nil, 405, "", 0},
		{"a database that does not answer", "POST", "issues", "d-1", good, body, errors.New("gone"), 503, refused, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			counted, logged, stored, woken := "", "", 0, false
			in := anIntake()
			in.secrets = func(context.Context) ([]string, error) { return []string{"", "new", "old"}, nil }
			in.keep = func(_ context.Context, d store.Delivery) (bool, error) {
				if c.broken == nil {
					stored++
				}
				if d.ID != c.id || d.Event != c.event || d.Action != "labeled" || string(d.Payload) != c.body {
					t.Errorf("%+v is stored", d)
				}
				return true, c.broken
			}
			in.count, in.wake = func(result string) { counted = result }, func() { woken = true }
			in.log = func(_ string, args ...any) { logged = fmt.Sprint(args...) }
			r := httptest.NewRequest(c.method, "/webhook", strings.NewReader(c.body))
			r.Header.Set("X-Hub-Signature-256", c.signature)
			r.Header.Set("X-GitHub-Event", c.event)
			r.Header.Set("X-GitHub-Delivery", c.id)
			w := httptest.NewRecorder()
			in.ServeHTTP(w, r)
			if w.Code != c.status || counted != c.counted || stored != c.stored || woken != (c.status == 202) {
				t.Errorf("%d, counted as %q, %d stored, decided %v: %s", w.Code, counted, stored, woken, w.Body)
			}
			if forger := strings.Contains(logged, "address192.0.2.1"); forger != (c.counted == forged) {
				t.Errorf("the log says %q", logged)
			}
			if !in.reading.small.TryAcquire(mostReading) || !in.reading.large.TryAcquire(mostLarge) {
				t.Error("what was read still counts")
			}
		})
	}
}

// TestIntakeIsBounded: nobody makes us hold more than GitHub sends.
func TestIntakeIsBounded(t *testing.T) {
	in := anIntake()
	for _, unknown := range []bool{false, true} {
		r := httptest.NewRequest(http.MethodPost, "/webhook", bytes.NewReader(make([]byte, mostBody+1)))
		if unknown {
			r.ContentLength = -1
		}
		r.Header.Set("X-Hub-Signature-256", signature("", "s"))
		w := httptest.NewRecorder()
		if in.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}

// TestIntakeMeetsSlowSenders: those who announce large bodies and send nothing, or all of them, keep no delivery waiting
// that is small, and what others have sent of theirs is given back when they leave.
func TestIntakeMeetsSlowSenders(t *testing.T) {
	const body = `{"action":"labeled"}`
	for _, c := range []struct{ senders, sends int }{{20, len(body)}, {4, 24 << 20}} {
		t.Run(fmt.Sprintf("%d send %d bytes", c.senders, c.sends), func(t *testing.T) {
			in := anIntake()
			server := httptest.NewServer(in)
			defer server.Close()
			slow := make([]net.Conn, c.senders)
			for i := range slow {
				conn := got[net.Conn](t)((&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String()))
				defer conn.Close()
				slow[i] = conn
				_, err := fmt.Fprintf(conn, "POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: %s\r\nContent-Length: %d\r\n"+
					"Expect: 100-continue\r\n\r\n", signature(body, "x"), mostBody)
				must(t, err)
				line := got[string](t)(bufio.NewReader(conn).ReadString('\n')) // its body is waited for
				if line != "HTTP/1.1 100 Continue\r\n" {
					t.Fatal(line)
				}
				go func() { _, _ = conn.Write(make([]byte, c.sends)) }() // some are not read to their end
			}
			ctx, cancel := context.WithTimeout(t.Context(), readTime/2)
			defer cancel()
			for c.sends > mostSmall && in.reading.large.TryAcquire(1) { // until as many as may are read
				in.reading.large.Release(1)
				time.Sleep(time.Millisecond)
			}
			r := got[*http.Request](t)(http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/webhook", strings.NewReader(body)))
			r.Header = http.Header{"X-Hub-Signature-256": {signature(body, "s")}, "X-Github-Event": {"issues"},
				"X-Github-Delivery": {"d-1"}}
			resp := got[*http.Response](t)(http.DefaultClient.Do(r))
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				t.Errorf("%s", resp.Status)
			}
			for _, conn := range slow {
				_ = conn.Close()
			}
			all, cancel := context.WithTimeout(t.Context(), readTime*2)
			defer cancel()
			if err := errors.Join(in.reading.small.Acquire(all, mostReading), in.reading.large.Acquire(all, mostLarge)); err != nil {
				t.Errorf("what they sent still counts: %v", err)
			}
		})
	}
}

// FuzzWebhook: nothing is stored but what is signed with the secret, as it came, and every answer is one of a few.
func FuzzWebhook(f *testing.F) {
	f.Add("issues", "d-1", `{"action":"labeled"}`, "", true)
	f.Add("issues", "../x", "{", "sha256="+strings.Repeat("0", 64), false)
	f.Add("star", "", "\x00", "sha256=", false)
	f.Fuzz(func(t *testing.T, event, id, body, given string, sign bool) {
		if sign {
			given = signature(body, "s")
		}
		stored := 0
		in := anIntake()
		in.keep = func(_ context.Context, d store.Delivery) (bool, error) {
			if stored++; string(d.Payload) != body || d.ID != id || d.Event != event {
				t.Errorf("%+v is stored", d)
			}
			return true, nil
		}
		r := httptest.NewRequest("POST", "/webhook", strings.NewReader(body))
		r.Header["X-Hub-Signature-256"] = []string{given}
		r.Header["X-Github-Event"], r.Header["X-Github-Delivery"] = []string{event}, []string{id}
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		if !slices.Contains([]int{202, 204, 400, 401}, w.Code) || (w.Code == 202) != (stored == 1) ||
			given != signature(body, "s") && w.Code != 401 {
			t.Errorf("%q %q %q: %d, %d stored", event, id, given, w.Code, stored)
		}
	})
}
