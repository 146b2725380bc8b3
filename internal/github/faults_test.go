package github

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// mishap is what goes wrong with one call on its way: instead of sending it, or after it was carried out.
type mishap struct {
	name   string
	before func() (*http.Response, error) // in place of the call
	after  bool                           // the call is carried out first, and its answer lost
}

func answering(status int, body string, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		r := &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)),
			Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r, nil
	}
}

func failing(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

func says(message string) string { return fmt.Sprintf(`{"message": %q}`, message) }

var mishaps = []mishap{
	{"401", answering(401, says("Bad credentials")), false},
	{"403", answering(403, says("Resource not accessible by integration"), "X-Accepted-GitHub-Permissions",
		"issues=write; pull_requests=write"), false},
	{"404", answering(404, says("Not Found")), false},
	{"409", answering(409, says("Conflict")), false},
	{"410", answering(410, says("Issues are disabled for this repo")), false},
	{"422",
		answering(422,
			`{"message": "Validation Failed\n\nmore", "errors": [{"resource": "X", "field": "y", "code": "invalid"}]}`), false},
	{"429 with a time", answering(429, says("API rate limit exceeded"), "Retry-After", "7"), false},
	{"a secondary limit", answering(403,
		`{"message": "You have exceeded a secondary rate limit.", "documentation_url": "https://docs.github.com/x#about-secondary-rate-limits"}`), false},
	{"500", answering(500, says("Server Error")), false},
	{"a proxy's page", answering(502, "<html>\n<body>\n<h1>Bad gateway ghs_job</h1>\n</html>"), false},
	{"a proxy's page as a good answer", answering(200, "<html>\n<body>log in</body>\n</html>"), false},
	{"dropped before", failing(io.ErrUnexpectedEOF), false},
	{"dropped after", failing(io.ErrUnexpectedEOF), true},
	{"500 after", answering(500, says("Server Error")), true},
	{"too slow", failing(context.DeadlineExceeded), false},
	{"carried out, but too slow", failing(context.DeadlineExceeded), true},
	{"no name", failing(&net.DNSError{Name: "api.nowhere", IsNotFound: true}), false},
	{"no trust", failing(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}), false},
}

// trouble lets one mishap happen to the nth call, or to all from there on.
type trouble struct {
	mishap
	next   http.RoundTripper
	nth    int
	always bool
	calls  int
}

func (f *trouble) RoundTrip(req *http.Request) (*http.Response, error) {
	f.calls++
	if f.calls < f.nth || f.calls > f.nth && !f.always {
		return f.next.RoundTrip(req)
	}
	if f.after {
		resp, err := f.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
	}
	resp, err := f.before()
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// TestEveryCallSurvivesEveryMishap: each thing that the client does meets each thing that can go wrong, at its first
// call and at later ones, once and for good. It recovers, or it says in one sentence what it was doing, what GitHub
// said and what to do; and nothing is done twice.
func TestEveryCallSurvivesEveryMishap(t *testing.T) {
	s := bareStage(t) // whether the calls are GitHub's, other tests ask
	p := s.place()
	k := 0
	for _, a := range asks(t, p) {
		t.Run(a.name, func(t *testing.T) {
			healthy := &trouble{nth: 1 << 30}
			if err := s.under(a, healthy, k); err != nil {
				t.Fatalf("without a mishap: %v", err)
			}
			k++
			for i, m := range mishaps {
				for nth := 1; nth <= min(healthy.calls, 8); nth++ {
					if nth > 1 && !m.after && (i+nth)%3 != 0 { // the later calls share them: it is the lost answers that double things
						continue
					}
					for _, always := range []bool{false, true} {
						if always && nth > 1 && !m.after {
							continue
						}
						err := s.under(a, &trouble{mishap: m, nth: nth, always: always}, k)
						if err != nil {
							clear(t, fmt.Sprintf("%s at call %d, always: %v", m.name, nth, always), err)
						}
						if a.made == nil {
							continue
						}
						if n := a.made(s, k); n > 1 || err == nil && n != 1 && !s.said("add `checks: write`") {
							t.Errorf("%s at call %d, always: %v: there are %d of it after the error %v", m.name, nth, always, n, err)
						}
						k++
					}
				}
			}
		})
	}
}

// under does one thing with a client of its own, whose calls are in trouble.
func (s *stage) under(a ask, f *trouble, k int) error {
	s.log = nil
	c := s.client()
	f.next = c.wire.next
	c.wire.next = f
	return a.do(s, c, k)
}

var sentence = regexp.MustCompile(`^[a-z]+ing [^\n]+`)

// clear holds an error to what a reader needs.
func clear(t *testing.T, when string, err error) {
	t.Helper()
	text := err.Error()
	if !sentence.MatchString(text) || !strings.Contains(text, "; ") && !strings.Contains(text, ": run again then") ||
		len(text) > 700 ||
		strings.Contains(text, "\n") || strings.Contains(text, jobToken) || strings.Contains(text, "<html") ||
		strings.Contains(text, "http://") {
		t.Errorf("%s: not one clear sentence: %q", when, text)
	}
}

// TestATryHasItsTimeLimit: one slow try is given up and made again.
func TestATryHasItsTimeLimit(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	c := s.client()
	slow := &hanging{next: c.wire.next}
	c.wire.next, c.wire.timeout = slow, 1 // nanosecond; as soon as the slow try has been given up, the others have time
	slow.given = func() { c.wire.timeout = requestTimeout }
	if _, err := c.Issue(t.Context(), n); err != nil || slow.calls != 2 {
		t.Errorf("%d tries: %v", slow.calls, err)
	}
}

// hanging does not answer its first call.
type hanging struct {
	next  http.RoundTripper
	calls int
	given func()
}

func (h *hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	if h.calls++; h.calls > 1 {
		return h.next.RoundTrip(req)
	}
	<-req.Context().Done()
	h.given()
	return nil, req.Context().Err()
}

// TestSecondaryLimitsWaitAMinute: what GitHub's documents say when the answer gives no time.
func TestSecondaryLimitsWaitAMinute(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.Fail(fake.Fault{SecondaryLimit: true})
	noError(t, errOf(s.client().Comment(t.Context(), n, "hello", false)))
	if len(s.slept) != 1 || s.slept[0].Seconds() != 60 || len(s.Comments(owner, name, n)) != 1 {
		t.Errorf("waited %v; %d comments", s.slept, len(s.Comments(owner, name, n)))
	}
}
