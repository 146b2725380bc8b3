package github

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// retrier tries a call again where GitHub's documents say that this is right: after a rate limit, when the stated time
// has passed, and after a server error or a lost connection, when doing it twice is the same as doing it once.
type retrier struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error
	log   func(format string, args ...any)
	sent  atomic.Int32 // calls so far, tries again not counted
	// timeout bounds one try.
	timeout time.Duration
	// patience is for how long a call is tried again, at least maxTries times, that GitHub did not answer or could not.
	patience time.Duration
}

const (
	maxTries = 4
	// maxWait is the longest a call waits for a rate limit to pass; a longer one is the caller's to report.
	maxWait = 2 * time.Minute
)

// repeatable are the POSTs that may be sent twice: a reaction or a label that already exists stays one, an access
// token and a status are replaced, and what ralph asks GraphQL only reads or sets. Comments, replies, check runs,
// branches and pull requests are not: their callers look first whether the lost one arrived.
var repeatable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(reactions|labels|access_tokens|graphql|statuses/[0-9a-f]+)$`)
})

// adding are the PATCHes that may not be sent twice: a check run's annotations are added to those that exist.
var adding = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/check-runs/[0-9]+$`) })

func idempotent(req *http.Request) bool {
	switch req.Method {
	case http.MethodPost:
		return repeatable().MatchString(req.URL.Path)
	case http.MethodPatch:
		return !adding().MatchString(req.URL.Path)
	}
	return true
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent.Add(1)
	for try, waited := 1, time.Duration(0); ; try++ {
		resp, err := r.once(req)
		wait, why := verdict(req, resp, err, try)
		if wait < 0 || try >= maxTries && (waited+wait > r.patience || err == nil && resp.StatusCode < 500) {
			return resp, err
		}
		waited += wait
		if r.log != nil {
			r.log("GitHub: %s %s: %s; trying again in %s", req.Method, req.URL.Path, why, wait.Round(time.Millisecond))
		}
		if resp != nil {
			discard(resp)
		}
		if err := r.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// once sends the request with a time limit of its own that ends when the answer's body is closed.
func (r *retrier) once(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), r.timeout)
	resp, err := r.next.RoundTrip(again(req.WithContext(ctx)))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &closer{resp.Body, cancel}
	return resp, nil
}

// again is a copy of a request that can be sent, with its body from the beginning: bodies of ours are in memory.
func again(req *http.Request) *http.Request {
	made := req.Clone(req.Context())
	if req.GetBody != nil {
		made.Body, _ = req.GetBody() // of bytes, never fails
	}
	return made
}

// discard reads the rest of an answer that no one needs, so that the connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
}

type closer struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *closer) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// verdict says how long to wait before the next try; negative: do not try again.
func verdict(req *http.Request, resp *http.Response, err error, try int) (wait time.Duration, why string) {
	twice := idempotent(req)
	switch {
	case req.Context().Err() != nil:
		return -1, ""
	case err != nil:
		if twice {
			return backoff(try), err.Error()
		}
		return -1, ""
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden:
		return limited(resp)
	case resp.StatusCode >= 500 && twice:
		return backoff(try), resp.Status
	}
	return -1, ""
}

// limited reads a primary or secondary rate limit; GitHub has not carried the call out, whatever its method.
func limited(resp *http.Response) (time.Duration, string) {
	var wait time.Duration
	switch {
	case resp.Header.Get("Retry-After") != "":
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil {
			return -1, ""
		}
		wait = time.Duration(seconds) * time.Second
	case resp.Header.Get("X-Ratelimit-Remaining") == "0":
		reset, err := strconv.ParseInt(resp.Header.Get("X-Ratelimit-Reset"), 10, 64)
		if err != nil {
			return -1, ""
		}
		wait = max(time.Until(time.Unix(reset, 0)), 0) + time.Second
	case resp.StatusCode == http.StatusTooManyRequests, secondary(resp):
		wait = time.Minute // what GitHub's documents say when the answer does not
	default: // a plain 403: the token may not
		return -1, ""
	}
	if wait > maxWait {
		return -1, ""
	}
	return wait, "rate limit"
}

// secondary reports whether a 403 is a secondary limit by what it says. The body can be read again after.
func secondary(resp *http.Response) bool {
	return strings.Contains(strings.ToLower(message(resp)), "secondary rate limit")
}

// mostDoubled is how often a pause is twice that before it: up to 16 s.
const mostDoubled = 5

func backoff(try int) time.Duration {
	step := 500 * time.Millisecond << min(try-1, mostDoubled)
	return step + rand.N(step/2) // jitter needs no secret
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

const (
	requestTimeout = 30 * time.Second // bounds one try of a call
	mostTime       = 10 * time.Minute // bounds a call with all its tries
)
