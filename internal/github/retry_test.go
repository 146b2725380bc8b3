package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"
)

// TestVerdict has a row for what is tried again, and what is not.
func TestVerdict(t *testing.T) {
	answer := func(status int, headers ...string) *http.Response {
		r := &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: http.NoBody}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	soon := strconv.FormatInt(time.Now().Add(5*time.Second).Unix(), 10)
	late := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	tests := []struct {
		name, method, path string
		resp               *http.Response
		err                error
		again              bool
	}{
		{"500 on an edit", "PATCH", "/x", answer(503), nil, true},
		{"500 on a comment", "POST", "/repos/a/b/issues/1/comments", answer(500), nil, false},
		{"a lost connection on a read", "GET", "/x", nil, errors.New("EOF"), true},
		{"a lost connection on a comment", "POST", "/repos/a/b/issues/1/comments", nil, errors.New("EOF"), false},
		{"429 with a time, also for a comment", "POST", "/repos/a/b/issues/1/comments", answer(429, "Retry-After", "3"), nil,
			true},
		{"429 with too long a time", "GET", "/x", answer(429, "Retry-After", "7200"), nil, false},
		{"429 with nonsense", "GET", "/x", answer(429, "Retry-After", "soon"), nil, false},
		{"a primary limit that ends soon", "GET", "/x", answer(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", soon),
			nil, true},
		{"a primary limit that ends late", "GET", "/x", answer(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", late),
			nil, false},
		{"a plain 403", "GET", "/x", answer(403), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := &http.Request{Method: tt.method, URL: &url.URL{Path: tt.path}}
			wait, why := verdict(req, tt.resp, tt.err, 1)
			if (wait >= 0) != tt.again || tt.again && why == "" {
				t.Errorf("verdict = %s (%s), want again = %v", wait, why, tt.again)
			}
		})
	}
}

// away answers 502 for that many calls.
type away struct{ calls, left int }

func (a *away) RoundTrip(*http.Request) (*http.Response, error) {
	a.calls++
	if a.left--; a.left >= 0 {
		return &http.Response{StatusCode: 502, Header: http.Header{}, Body: http.NoBody}, nil
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
}

// TestPatience: a GitHub that is away for minutes is waited for by whoever has patience, and by nobody else.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		patience     time.Duration
		left         int
		status, most int
	}{{0, 30, 502, maxTries}, {20 * time.Minute, 30, 200, 31}, {time.Minute, 1000, 502, 12}} {
		server := &away{left: c.left}
		r := &retrier{next: server, sleep: func(context.Context, time.Duration) error { return nil }, timeout: time.Minute,
			patience: c.patience}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com", nil)
		noError(t, err)
		resp, err := r.RoundTrip(req)
		if err != nil || resp.StatusCode != c.status || server.calls > c.most {
			t.Errorf("patience %s: %d after %d calls, %v", c.patience, resp.StatusCode, server.calls, err)
		}
	}
}
