// Package fake is GitHub in miniature, for tests and demonstrations: REST, GraphQL, webhook payloads and git over HTTP,
// with state.
//
// It imitates what GitHub answers, and of what it forbids only what a test asks for: rate limits as faults (Fail),
// missing permissions by a token that has less than everything (AddLimitedToken). Events that do not trigger workflows
// and protected branches are not enforced. It can fail a test: whatever a caller asks that GitHub does not know is a
// problem (Problems).
package fake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/iotest"
	"time"
)

// Options say how a stand-in is made. The zero value works.
type Options struct {
	// Dir holds the bare repositories as OWNER/NAME.git; empty for a temporary one that Close removes.
	Dir string
	// Wrap goes around everything but faults: the place of a contract checker.
	Wrap func(http.Handler) http.Handler
	// Now is the clock of every record, time.Now when nil. GitHub keeps whole seconds, so the answers do too.
	Now func() time.Time
	// APIHost puts REST and GraphQL on an address of their own, at its root, as https://api.SUB.ghe.com has them; pages
	// and git stay.
	APIHost bool
}

// GitHub is one running stand-in. Its methods may be called at any time, also while requests are served. Methods that
// seed or read state panic when they name a repository or an issue that does not exist: that is a bug in the test.
type GitHub struct {
	dir     string
	ownDir  bool
	now     func() time.Time
	url     string
	apiURL  string // of the API's own listener; empty without one
	server  *http.Server
	pages   *http.ServeMux
	running context.Context // until Close
	stop    context.CancelFunc

	mu     sync.Mutex // guards everything below
	lastID int64
	users  map[string]*user // by lower login
	repos  map[string]*repo // by lower owner/name
	tokens map[string]*token
	appState
	problems []string
	calls    []*Call
	gitCalls []*Call
	faults   []*armedFault
	jobs     map[string]RunnerJob // by what they ask for their tokens with
	// started hears of each workflow that is started; nil: no one does
	started func(owner, name string, d Dispatched)
}

// New starts a stand-in on a free port of 127.0.0.1. Close stops it.
func New(o Options) (*GitHub, error) {
	g := &GitHub{
		dir: o.Dir, now: o.Now, lastID: 1000,
		users: map[string]*user{}, repos: map[string]*repo{}, tokens: map[string]*token{}, jobs: map[string]RunnerJob{},
		appState: appState{organizations: map[string][]string{}, manifests: map[string]*App{}, signIns: map[string]*signIn{}},
	}
	g.running, g.stop = context.WithCancel(context.Background())
	g.pages = g.pageRoutes()
	if g.now == nil {
		g.now = time.Now
	}
	if g.dir == "" {
		dir, err := os.MkdirTemp("", "fake-github-")
		if err != nil {
			return nil, fmt.Errorf("making the directory of repositories: %w", err)
		}
		g.dir, g.ownDir = dir, true
	}
	var handler http.Handler = http.HandlerFunc(g.serve)
	if o.Wrap != nil {
		handler = o.Wrap(handler)
	}
	g.server = &http.Server{Handler: g.record(g.faulty(handler)), ReadHeaderTimeout: time.Minute}
	if o.APIHost {
		g.server.Handler = g.onTwoHosts(g.server.Handler)
	}
	for _, url := range []*string{&g.url, &g.apiURL} {
		if url == &g.apiURL && !o.APIHost {
			break
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			g.Close()
			return nil, fmt.Errorf("listening: %w", err)
		}
		go func() { _ = g.server.Serve(listener) }() // until Close
		*url = "http://" + listener.Addr().String()
	}
	return g, nil
}

// onTwoHosts serves the API at the root of its own host, and only pages and git at the other.
func (g *GitHub) onTwoHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case "http://"+r.Host == g.apiURL:
			prefix := "/api/v3"
			if r.URL.Path == "/graphql" {
				prefix = "/api"
			}
			r.URL.Path = prefix + r.URL.Path
			if r.URL.RawPath != "" {
				r.URL.RawPath = prefix + r.URL.RawPath
			}
		case strings.HasPrefix(r.URL.Path, "/api/"):
			g.problem("%s %s: the API is at %s", r.Method, r.URL.Path, g.apiURL)
			write(w, notFound())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// URL is where the stand-in listens, without a slash at its end: what GITHUB_SERVER_URL holds.
func (g *GitHub) URL() string { return g.url }

// APIURL is the root of REST: what GITHUB_API_URL holds.
func (g *GitHub) APIURL() string {
	if g.apiURL != "" {
		return g.apiURL
	}
	return g.url + "/api/v3"
}

// GraphQLURL is the address of GraphQL: what GITHUB_GRAPHQL_URL holds.
func (g *GitHub) GraphQLURL() string {
	if g.apiURL != "" {
		return g.apiURL + "/graphql"
	}
	return g.url + "/api/graphql"
}

// Close stops the double and the requests that still run. It may be called twice.
func (g *GitHub) Close() {
	g.stop()
	if g.server != nil {
		_ = g.server.Close() // a listener may be closed already
	}
	if g.ownDir {
		_ = os.RemoveAll(g.dir) // in the temporary directory; the system cleans up the rest
	}
}

// Problems lists, oldest first, every request that GitHub would not have understood: an unknown route or method, a
// repository that does not exist, an unknown query key, a body with unknown or malformed fields. A test that used the
// stand-in should end with none.
func (g *GitHub) Problems() []string {
	defer g.lock()()
	return slices.Clone(g.problems)
}

func (g *GitHub) problem(format string, args ...any) {
	defer g.lock()()
	g.problems = append(g.problems, fmt.Sprintf(format, args...))
}

// serve splits the three faces of the stand-in: REST, GraphQL and git.
func (g *GitHub) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		g.rest(w, r)
	case isGit(r):
		g.git(w, r)
	case strings.HasPrefix(r.URL.Path, jobTokens):
		write(w, g.answerJobToken(r))
	case logPath.MatchString(r.URL.Path):
		g.serveLog(w, r)
	default:
		if _, page := g.pages.Handler(r); page != "" {
			g.pages.ServeHTTP(w, r)
			return
		}
		g.problem("%s %s: no such address; REST is at /api/v3/, GraphQL at /api/graphql, git at /OWNER/NAME.git/", r.Method,
			r.URL.Path)
		write(w, notFound())
	}
}

// lock guards the state until what it returns is called.
func (g *GitHub) lock() (unlock func()) {
	g.mu.Lock()
	return g.mu.Unlock
}

// time is now in whole seconds.
func (g *GitHub) time() time.Time { return g.now().UTC().Truncate(time.Second) }

// id is a new identifier, unique across everything. Callers hold the lock.
func (g *GitHub) id() int64 {
	g.lastID++
	return g.lastID
}

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
	defer g.lock()()
	g.calls, g.gitCalls = nil, nil
}

func (g *GitHub) copyCalls(from *[]*Call) []Call {
	defer g.lock()()
	return each(*from, value)
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
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(raw), iotest.ErrReader(err)))
		return raw
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return raw
}

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
