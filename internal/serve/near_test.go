package serve

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestNear: figures, and what is wrong in words, are told on this machine and to those with the token, and to nobody
// whom a proxy on this machine brings.
func TestNear(t *testing.T) {
	const words = "no route to db.internal"
	ready := &readiness{looks: lookups[[]condition]{clock: time.Now}, probes: []probe{{"database", func(context.Context) error { return errors.New(words) }}}}
	figures := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		name, from, host, header, value, token string
		near                                   bool
	}{
		{"this machine", "127.0.0.1:5", "127.0.0.1:8080", "", "", "", true},
		{"this machine, by its name", "[::1]:5", "localhost", "", "", "secret", true},
		{"elsewhere", "10.0.0.7:5", "127.0.0.1:8080", "", "", "", false},
		{"the token", "10.0.0.7:5", "ralph.example.com", "Authorization", "Bearer secret", "secret", true},
		{"another token", "127.0.0.1:5", "127.0.0.1:8080", "Authorization", "Bearer other", "secret", false},
		{"the empty token", "10.0.0.7:5", "127.0.0.1:8080", "Authorization", "Bearer ", "", false},
		{"a proxy that says so", "127.0.0.1:5", "127.0.0.1:8080", "X-Real-IP", "10.0.0.7", "", false},
		{"a proxy that says for whom", "127.0.0.1:5", "127.0.0.1:8080", "X-Forwarded-For", "10.0.0.7", "", false},
		{"a proxy that says nothing", "127.0.0.1:5", "ralph.example.com", "", "", "", false},
		{"a page under another name", "127.0.0.1:5", "evil.example:8080", "", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, r.Host = c.from, c.host
			if c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			w := httptest.NewRecorder()
			if onlyNear(figures, c.token).ServeHTTP(w, r); (w.Code == http.StatusOK) != c.near {
				t.Errorf("figures: %d", w.Code)
			}
			ready.token = c.token
			w = httptest.NewRecorder()
			ready.ServeHTTP(w, r)
			if said := w.Body.String(); w.Code != http.StatusServiceUnavailable || strings.Contains(said, words) != c.near ||
				!strings.Contains(said, `"name":"database","ok":false`) {
				t.Errorf("readiness: %d %s", w.Code, said)
			}
		})
	}
}
