package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Fault is something that goes wrong, once or more often. Exactly one of Status, SecondaryLimit, RateLimited, Drop,
// DropAfter and Then says what; with none of them and a Delay, the request is only slow. A fault comes before
// everything else: the state is untouched, but for DropAfter and Then.
type Fault struct {
	// Match is which requests: "POST /repos/.../issues/*/comments". The method may be left out or be *; in the path,
	// which is named as in Call, * stands for anything within one part and ... for any number of parts. Empty matches
	// every request, git too.
	Match string
	Nth   int // the first matching request that fails, counted from this Fail on; 0 and 1 are the next one
	Times int // how many fail; 0 is one, below 0 is all from Nth on
	// For is how long it happens, from the first request that fails on, by the stand-in's clock, whatever Times is. Zero:
	// without end.
	For time.Duration

	// Write matches only requests that ask for a change, as Call says it.
	Write bool

	Status         int    // answers with this status and GitHub's message for it
	Message        string // with Status, in place of GitHub's usual message
	RetryAfter     int    // seconds, in the answer's Retry-After; with RateLimited, until the reset
	SecondaryLimit bool   // answers 403 (or Status) with GitHub's message on secondary rate limits
	// answers 403 (or Status) with no requests left and the time of the reset, in a minute unless RetryAfter says so
	RateLimited bool
	// Drop cuts the connection in the middle of the answer's first line. A connection closed before it would not do: Go's
	// client then silently asks again.
	Drop bool
	// DropAfter carries out the request and cuts the connection in place of the answer.
	DropAfter bool
	// Then is DropAfter, and is called between the two: the request is carried out, and no one knows yet. It may use
	// the stand-in, and kill the client.
	Then func()
	// Delay waits first. When the client goes away in the meantime, nothing is done.
	Delay time.Duration
}

type armedFault struct {
	Fault
	ends time.Time // zero: not by itself
	seen int       // matching requests so far
}

// Fail arms a fault. Several may be armed; all count, and the oldest one that is due happens.
func (g *GitHub) Fail(f Fault) {
	defer g.lock()()
	if f.For > 0 {
		f.Times = -1
	}
	g.faults = append(g.faults, &armedFault{Fault: f})
}

// ClearFaults disarms every fault.
func (g *GitHub) ClearFaults() {
	defer g.lock()()
	g.faults = nil
}

func (g *GitHub) dueFault(r *http.Request) *Fault {
	defer g.lock()()
	var due *Fault
	for _, f := range g.faults {
		if !f.matches(r) || !f.ends.IsZero() && !g.now().Before(f.ends) {
			continue
		}
		f.seen++
		first, times := max(f.Nth, 1), cmp.Or(f.Times, 1)
		if f.seen == first && f.For > 0 {
			f.ends = g.now().Add(f.For)
		}
		if due == nil && f.seen >= first && (times < 0 || f.seen < first+times) {
			due = &f.Fault
		}
	}
	return due
}

// faulty lets armed faults happen.
func (g *GitHub) faulty(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := g.dueFault(r)
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		if f.Delay > 0 && !g.wait(r, f.Delay) {
			w.WriteHeader(statusGone) // only for the log of calls
			return
		}
		switch {
		case f.Drop:
			drop(w)
		case f.DropAfter || f.Then != nil:
			next.ServeHTTP(httptest.NewRecorder(), r)
			if f.Then != nil {
				f.Then()
			}
			drop(w)
		case f.Status != 0 || f.SecondaryLimit || f.RateLimited:
			write(w, f.answer(g.now()))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// statusGone is the status of a call whose client went away before anything was done, as nginx writes it.
const statusGone = 499

// wait reports whether the client and the stand-in were still there at the end of a delay. The body is read first:
// before that, package http does not see that a client goes away.
func (g *GitHub) wait(r *http.Request, d time.Duration) bool {
	keepBody(r)
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-g.running.Done():
	}
	return false
}

// faultMessages are GitHub's words where they are not those of the status.
var faultMessages = map[int]string{
	http.StatusUnauthorized: "Bad credentials",
	http.StatusForbidden:    "Resource not accessible by integration",
	http.StatusConflict: "is at 1111111111111111111111111111111111111111 but expected " +
		"2222222222222222222222222222222222222222",
	http.StatusUnprocessableEntity: "Validation Failed",
	http.StatusTooManyRequests:     "API rate limit exceeded",
	http.StatusInternalServerError: "Server Error",
	http.StatusBadGateway:          "Server Error",
}

func (f *Fault) answer(now time.Time) answer {
	status, header := cmp.Or(f.Status, http.StatusForbidden), http.Header{}
	message, docs := cmp.Or(f.Message, faultMessages[status], http.StatusText(status)), docsURL
	switch {
	case f.RateLimited:
		wait := cmp.Or(f.RetryAfter, 60)
		header.Set("X-RateLimit-Remaining", "0")
		header.Set("X-RateLimit-Used", "5000")
		header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(time.Duration(wait)*time.Second).Unix(), 10))
		message, docs = "API rate limit exceeded for installation.", docsURL+"/overview/rate-limits-for-the-rest-api"
	case f.SecondaryLimit:
		message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
		// go-github knows a secondary limit by the end of this address alone.
		docs = docsURL + "/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	}
	if f.RetryAfter > 0 && !f.RateLimited {
		header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	body := object{"message": message, "documentation_url": docs, "status": fmt.Sprint(status)}
	if status == http.StatusUnprocessableEntity && f.Message == "" {
		body["errors"] = []object{{"resource": "Resource", "code": "custom", "message": "was refused for a test"}}
	}
	return answer{status: status, body: body, header: header}
}

// drop cuts the connection after a few bytes of an answer.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server then cuts it, only earlier
	}
	_, _ = conn.Write([]byte("HTTP/1.1")) // the client may be gone already
	_ = conn.Close()
}

func (f *Fault) matches(r *http.Request) bool {
	if f.Write && !isWrite(r) {
		return false
	}
	if f.Match == "" {
		return true
	}
	method, pattern, ok := strings.Cut(f.Match, " ")
	if !ok {
		method, pattern = "*", f.Match
	}
	if method != "*" && method != r.Method {
		return false
	}
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "/api/v3"), "/api")
	pattern = strings.NewReplacer(`\.\.\.`, `.*`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + pattern + "$").MatchString(shortPath(r))
}
