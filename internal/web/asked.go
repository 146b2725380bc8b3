package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
)

// Options are what the pages are made with.
type Options struct {
	Runs         Runs
	Lists        Lists
	Repositories Repositories
	Access       Access
	Sessions     Sessions
	SignIn       SignIn
	Actions      Actions
	Setup        Setup
	// Public is the address that people open, without a path: "https://ralph.example.com". With https, cookies are sent
	// over it alone. A request for another host is refused.
	Public *url.URL
	GitHub string // "https://github.com"; where links to issues and commits go
	// Version is shown below each page: "1.4.0"; empty: nothing.
	Version string
	Clock   func() time.Time
	Log     *slog.Logger
}

// Server answers browsers. It is safe for concurrent use.
type Server struct {
	Options
	streams streams
	signIns tries
	setup   atomic.Pointer[setupDoor]
	handler http.Handler
	cookie  string // the name of the session's cookie
	secure  bool
	alone   *alone          // one run and nothing else; nil: there are all
	over    context.Context // ends when there is nothing more to come
	finish  func()          // ends over
}

func newServer(o Options) (*Server, error) {
	if o.Public == nil || o.Public.Host == "" || strings.Trim(o.Public.Path, "/") != "" {
		return nil, fmt.Errorf("the address of the pages is %q; give one without a path, like https://ralph.example.com",
			o.Public)
	}
	s := &Server{Options: o, secure: o.Public.Scheme == "https", streams: streams{all: map[*stream]bool{}}}
	s.over, s.finish = context.WithCancel(context.Background())
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the streams, of which each would otherwise last as long as its reader: http.Server.Shutdown does not.
func (s *Server) Close() { s.streams.end(func(*stream) bool { return true }) }

// prefixed is the name of a cookie. Where the browser can hold others to it, it says that the cookie is this host's.
func (s *Server) prefixed(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// alone lets in one browser, by its cookie.
type alone struct {
	entry, token string
	entered      atomic.Bool
}

// setupDoor is open to the one browser that has shown the setup code.
type setupDoor struct {
	token string
	until time.Time
}

// asked is one request by one person.
type asked struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	soon context.Context // ends when the answer can no longer wait for what GitHub says of the person
	who  Identity        // no one: Login is ""
	may  Permission      // in repository
	// what the request is about, as far as its route says so
	repository string
	run        Run
	delivery   store.Delivery
	operator   bool
}

// need is what someone must be to be answered at all.
type need int

// permissions are what a need takes in the repository that the request is about.
var permissions = map[need]Permission{outsider: MaySeeRuns, reader: MayRead, writer: MayWrite}

const (
	anybody  need = iota
	signedIn      // rows are held to what the person may read
	outsider      // sees that runs of the repository exist
	reader        // of the repository that the request is about
	writer        // of it
	operator
	settingUp // a browser that has shown the one-time code, or an operator
)

// route is one address that is answered.
type route struct {
	pattern string
	need    need
	answer  func(*asked) error
}

// mostWords is how many characters of a form's text are taken.
const mostWords = 4000

// empty says of an action without the text that it needs what is missing.
var empty = map[string]string{Hint: "The hint is empty. Write what the agent should know.",
	Approve: "Nothing was chosen. Choose what you accept."}

// action answers a form that asks for something.
func action(kind string) func(*asked) error {
	return func(a *asked) error {
		if err := a.r.ParseForm(); err != nil {
			return errForm
		}
		text := safetext.Visible(strings.Join(a.r.PostForm["text"], "\n")) // a line for each thing that was chosen
		asks := Action{Kind: kind, By: a.who, Repository: a.repository, Run: a.run.ID, Delivery: a.delivery.ID,
			Text: safetext.FirstRunes(strings.TrimSpace(text), mostWords)}
		if why := empty[kind]; why != "" && asks.Text == "" {
			return &Refusal{why}
		}
		if err := a.Actions.Do(a.r.Context(), asks); err != nil {
			return err
		}
		if kind == Redeliver {
			return a.goTo("/deliveries/" + url.PathEscape(a.delivery.ID))
		}
		return a.goTo(a.runPath(a.run.ID))
	}
}

// ask gets GitHub's answer about a person. Without one, nothing is shown.
func ask[T any](of func(context.Context, Identity) (T, error), soon context.Context, who Identity) (T, error) {
	got, err := of(soon, who)
	if err != nil && !errors.Is(err, ErrSignedOut) {
		err = fmt.Errorf("%w: %w", errAway, err)
	}
	return got, err
}

// local is a path on these pages to continue to, "/" for anything else.
func local(path string) string {
	if u, err := url.Parse(path); err != nil || u.Host != "" || u.Scheme != "" || len(path) > 1000 ||
		!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}

// trouble is an error that a request ends with, and what it is answered with.
type trouble struct {
	Status        int
	Heading, Says string
	Reference     string // where the log says more; empty: nothing to say
}

func (t *trouble) Error() string { return t.Says }

// errSignIn sends the browser to the sign-in.
var errSignIn = errors.New("no one is signed in")

// What can go wrong with a request besides what it asks for.
var (
	errHidden = &trouble{http.StatusNotFound, "Not found",
		"There is nothing here, or nothing that you can see. What you see follows what you can read on GitHub; after a " +
			"change there it takes a minute.", ""}
	errForeign = &trouble{http.StatusForbidden, "Not done",
		"The request came from another site, so nothing was done. Open the page here and try again.", ""}
	errOtherHost = &trouble{http.StatusMisdirectedRequest, "Wrong address",
		"These pages answer under another address. Open the one that ralph was started with.", ""}
	errState = &trouble{http.StatusBadRequest, "Not signed in",
		"The sign-in was not begun in this browser, or more than ten minutes ago. Sign in again.", ""}
	errNotSignedIn = &trouble{http.StatusForbidden, "Not signed in",
		"GitHub did not say who you are: the sign-in was canceled, or took too long. Sign in again.", ""}
	errTooOften = &trouble{http.StatusTooManyRequests, "Not signed in",
		"Too many sign-ins came from your address. Wait a minute, then sign in again.", ""}
	errAway = &trouble{http.StatusServiceUnavailable, "GitHub doesn't answer; trying again",
		"This page stays empty until GitHub confirms what you can read. It reloads automatically. Runs continue.", ""}
	errForm = &trouble{http.StatusBadRequest, "Not done", "The form cannot be read, or is too long. Nothing was done.", ""}
	errBusy = &trouble{http.StatusServiceUnavailable, "Too many open pages",
		"More pages are followed live than this server allows. Close some, or load the page again later.", ""}
)

// opens reports whether a browser opens a page, and no part of one. Who does not say what they take, takes a page.
func (a *asked) opens() bool {
	accept := a.r.Header.Get("Accept")
	return a.r.Method == http.MethodGet && (accept == "" || strings.Contains(accept, "text/html"))
}

// problem answers a request that cannot be answered. No one learns from it whether something exists.
func (a *asked) problem(err error) {
	if errors.Is(err, ErrSignedOut) {
		err = cmp.Or(a.leave(false), errSignIn)
	}
	if errors.Is(err, errSignIn) {
		if a.opens() && a.alone == nil {
			http.Redirect(a.w, a.r, "/sign-in?next="+url.QueryEscape(a.r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		err = errHidden
	}
	if errors.Is(err, context.Canceled) && a.r.Context().Err() != nil {
		return // the requester is gone
	}
	var t *trouble
	var refusal *Refusal
	switch {
	case errors.Is(err, errAway):
		t = errAway
		a.Log.Warn("a reader could not be checked on GitHub", "error", err, "path", a.r.URL.Path)
		if a.w.Header().Set("Retry-After", "2"); a.r.Method == http.MethodGet {
			a.w.Header().Set("Refresh", "2")
		}
	case errors.As(err, &t):
	case errors.Is(err, store.ErrNotFound):
		t = errHidden
	case errors.As(err, &refusal):
		t = &trouble{Status: http.StatusConflict, Heading: "Not done", Says: refusal.Why}
	default:
		t = &trouble{http.StatusServiceUnavailable, "It does not work right now",
			"The server could not read what this page shows. It tries again with every page that is loaded; runs continue.", random()[:8]}
		a.Log.Error("a page could not be shown", "error", err, "reference", t.Reference, "path", a.r.URL.Path)
	}
	a.w.Header().Set("Cache-Control", "no-store")
	if a.r.Method == http.MethodGet && !a.opens() || a.showAs(t.Status, "problem", t.Heading, t) != nil {
		http.Error(a.w, t.Heading+". "+t.Says, t.Status)
	}
}

// frame is the part around every page.
type frame struct {
	Title, Page string
	Who         string // login
	Operator    bool
	Alone       bool
	Version     string
	Now         time.Time
	Body        any
}

func (a *asked) show(page, title string, body any) error {
	return a.showAs(http.StatusOK, page, title, body)
}

// showAs writes a page, which is made whole before its first byte is sent.
func (a *asked) showAs(status int, page, title string, body any) error {
	f := frame{Title: title, Page: page, Who: a.who.Login, Operator: a.operator, Alone: a.alone != nil,
		Version: a.Version, Now: a.Clock(), Body: body}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, page, f); err != nil {
		return fmt.Errorf("writing the page %s: %w", page, err)
	}
	a.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	a.w.WriteHeader(status)
	_, _ = a.w.Write(b.Bytes()) // the reader may be gone
	return nil
}

// runPath is the address of a run's page.
func (s *Server) runPath(id string) string { return "/runs/" + url.PathEscape(id) }

// github is an address on GitHub below a repository; "" where it cannot be one.
func (s *Server) github(repository string, below ...string) string {
	owner, name, _ := strings.Cut(repository, "/")
	if owner == "" || name == "" {
		return ""
	}
	parts := append([]string{s.GitHub, url.PathEscape(owner), url.PathEscape(name)}, below...)
	return wording.Linkable(strings.Join(parts, "/"))
}

func (a *asked) static() error {
	f, ok := files()[a.r.PathValue("file")]
	if !ok {
		return errHidden
	}
	h := a.w.Header()
	h.Set("Content-Type", f.kind)
	if a.r.URL.RawQuery == f.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = a.w.Write(f.content) // the reader may be gone
	return nil
}

// Loopback reports whether a host is this machine and nothing else: "127.0.0.1", "::1", "localhost".
func Loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// passing are the headers that proxies add for another client.
var passing = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip",
	"Cf-Connecting-Ip"}

// Here reports whether a request is of someone on this machine. One that a proxy sends for another client is not.
func Here(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback() &&
		!slices.ContainsFunc(passing, func(name string) bool { return r.Header.Get(name) != "" })
}

// Address is the IP address of who asks. A proxy on this machine or its network is believed about whom it passes on: the
// last address that X-Forwarded-For has, which the proxy itself has put there.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	list := r.Header.Values("X-Forwarded-For")
	if at := net.ParseIP(host); len(list) == 0 || !at.IsLoopback() && !at.IsPrivate() {
		return host
	}
	last := list[len(list)-1]
	if given := net.ParseIP(strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])); given != nil {
		return given.String()
	}
	return host
}

// policy lets a page load our own files and nothing else, and send forms nowhere but here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// token is the session's; "" without a session.
func (a *asked) token() string { return a.cookieValue(a.cookie) }

func (a *asked) cookieValue(name string) string {
	c, err := a.r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// keep sets a cookie that no script reads and no other site sends along with a form. A life below zero removes it.
func (a *asked) keep(name, value string, life time.Duration) {
	seconds := cmp.Or(max(0, int(life/time.Second)), -1)
	http.SetCookie(a.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, Secure: a.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// leave ends the session and what it still reads; everywhere ends all sessions of the person.
func (a *asked) leave(everywhere bool) error {
	token := a.token()
	if token == "" {
		return nil
	}
	a.streams.end(func(st *stream) bool { return st.token == token || everywhere && st.login == a.who.Login })
	if err := a.Sessions.End(a.r.Context(), token, everywhere); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// goTo answers with the address to read next.
func (a *asked) goTo(path string) error {
	http.Redirect(a.w, a.r, path, http.StatusSeeOther)
	return nil
}

// random is a text that no one guesses.
func random() string { return rand.Text() + rand.Text() }

// same compares two secrets in a time that does not depend on them. Nothing is never the same.
func same(x, y string) bool { return x != "" && subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1 }

// mostSignIns is how many times a minute one address may try to sign in, or the setup's code.
const mostSignIns = 30

// tries counts what each address has tried in this minute.
type tries struct {
	mu     sync.Mutex
	minute time.Time
	by     map[string]int
}

func (t *tries) allow(address string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(t.minute) {
		t.minute, t.by = minute, map[string]int{}
	}
	t.by[address]++
	return t.by[address] <= mostSignIns
}

// number is the number of a record or a row, as browsers send it; 0 for none.
func number(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return max(n, 0), err == nil && n >= 0
}

// How many streams there may be.
const (
	mostStreams  = 2000
	mostOfPerson = 30
)

// stream is one page that is followed live.
type stream struct {
	login, token string
	cancel       context.CancelFunc
}

// streams are the open streams of this process.
type streams struct {
	mu  sync.Mutex
	all map[*stream]bool
}

func (s *streams) begin(ctx context.Context, login, token string) (of context.Context, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for other := range s.all {
		if other.login == login {
			own++
		}
	}
	if len(s.all) >= mostStreams || own >= mostOfPerson {
		return nil, nil, errBusy
	}
	of, cancel := context.WithCancel(ctx)
	st := &stream{login, token, cancel}
	s.all[st] = true
	return of, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, st)
	}, nil
}

// end ends those that match.
func (s *streams) end(matches func(*stream) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.all {
		if matches(st) {
			st.cancel()
		}
	}
}
