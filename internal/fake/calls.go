package fake

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Call is one request that arrived.
type Call struct {
	Method string
	// without /api/v3 or /api in front: "/repos/alice/demo/issues", "/graphql"; with them for git:
	// "/alice/demo.git/info/refs"
	Path  string
	Query string // raw
	// of the answer; 0 when the connection was dropped or the answer is not begun, 499 when the client went away during a
	// Fault's Delay
	Status int
	// Write is whether it asks for a change: every method of REST but GET and HEAD, a mutation of GraphQL, a push of git.
	Write bool
	At    time.Time
}

// String is the call in the form that reads well in a comparison: "POST /repos/alice/demo/issues/1/comments".
func (c Call) String() string {
	if c.Query == "" {
		return c.Method + " " + c.Path
	}
	return c.Method + " " + c.Path + "?" + c.Query
}

// Calls lists the requests of REST and GraphQL in the order in which they arrived.
func (g *GitHub) Calls() []Call { return g.copyCalls(&g.calls) }

// GitCalls lists the requests of git in the order in which they arrived.
func (g *GitHub) GitCalls() []Call { return g.copyCalls(&g.gitCalls) }

// ResetCalls forgets all calls.
func (g *GitHub) ResetCalls() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls, g.gitCalls = nil, nil
}

func (g *GitHub) copyCalls(from *[]*Call) []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	calls := make([]Call, 0, len(*from))
	for _, c := range *from {
		calls = append(calls, *c)
	}
	return slices.Clip(calls)
}

// record logs every request. It notes a call before the answer begins: a client may ask for the log as soon as it has
// its answer.
func (g *GitHub) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &Call{Method: r.Method, Path: shortPath(r), Query: r.URL.RawQuery, Write: isWrite(r), At: g.now()}
		g.mu.Lock()
		if isGit(r) {
			g.gitCalls = append(g.gitCalls, call)
		} else {
			g.calls = append(g.calls, call)
		}
		g.mu.Unlock()
		next.ServeHTTP(&statusWriter{ResponseWriter: w, seen: func(status int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			if call.Status == 0 {
				call.Status = status
			}
		}}, r)
	})
}

var mutation = regexp.MustCompile(`"query"\s*:\s*"(?:\s|\\[nrt])*mutation\b`)

// isWrite reports whether a request asks for a change. A body that it has to read for that is put back.
func isWrite(r *http.Request) bool {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return false
	case isGit(r):
		return strings.HasSuffix(r.URL.Path, "/git-receive-pack")
	case shortPath(r) != "/graphql":
		return true
	}
	return mutation.Match(keepBody(r))
}

// keepBody reads a body and puts it back.
func keepBody(r *http.Request) []byte {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(raw), failing{err}))
		return raw
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return raw
}

// failing is the end of a body that broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// shortPath is a request's path as calls and faults name it.
func shortPath(r *http.Request) string {
	if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v3"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api"); ok {
		return rest
	}
	return r.URL.EscapedPath()
}

// statusWriter tells the status of an answer as it begins.
type statusWriter struct {
	http.ResponseWriter
	seen func(status int)
}

func (w *statusWriter) WriteHeader(status int) {
	w.seen(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	w.seen(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what is below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
