// Package web shows runs to people in a browser, and takes what they ask for. It shows the rows of the store, and knows
// neither its database nor GitHub: what there is, who may see it and what can be done come through interfaces.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
)

// routes are all there are. Nothing else is answered, and permissions are checked only here.
var routes = []route{
	{"GET /{$}", signedIn, (*asked).now},
	{"GET /runs/{run}", outsider, (*asked).runPage},
	{"GET /runs/{run}/live", reader, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, (*asked).prompt},
	{"POST /runs/{run}/stop", writer, action(Stop)},
	{"POST /runs/{run}/retry", writer, action(Retry)},
	{"POST /runs/{run}/hint", writer, action(Hint)},
	{"POST /runs/{run}/approve", writer, action(Approve)},
	{"GET /repositories", signedIn, (*asked).repositories},
	{"GET /repositories/{owner}/{name}", outsider, (*asked).repositoryPage},
	{"GET /deliveries", signedIn, (*asked).deliveries},
	{"GET /deliveries/{delivery}", reader, (*asked).deliveryPage},
	{"POST /deliveries/{delivery}/redeliver", writer, action(Redeliver)},
	{"GET /spend", signedIn, (*asked).spend},
	{"GET /audit", signedIn, (*asked).audit},
	{"GET /setup", settingUp, (*asked).setupPage},
	{"GET /setup/created", settingUp, (*asked).created},
	{"GET /setup/code", anybody, (*asked).codePage},
	{"POST /setup/code", anybody, (*asked).redeem},
	{"POST /setup/secret", operator, (*asked).rotateSecret},
	{"GET /sign-in", anybody, (*asked).signInPage},
	{"GET /sign-in/github", anybody, (*asked).beginSignIn},
	{"GET /sign-in/callback", anybody, (*asked).endSignIn},
	{"POST /sign-out", anybody, (*asked).signOut},
	{"GET /static/{file}", anybody, (*asked).static},
}

// New makes the pages. It reads nothing yet.
func New(o Options) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	s.cookie = s.prefixed("ralph")
	s.handler = s.guarded(routes)
	return s, nil
}

// answerTime is how long a page waits for what GitHub says of its reader.
const answerTime = 900 * time.Millisecond

// guarded answers the routes and nothing else.
func (s *Server) guarded(table []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range table {
		mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			soon, cancel := context.WithTimeout(r.Context(), answerTime)
			defer cancel()
			a := &asked{Server: s, w: w, r: r, soon: soon}
			err := a.admitted(rt)
			if err == nil {
				err = rt.answer(a)
			}
			if err != nil {
				a.problem(err)
			}
		})
	}
	refuse := func(err error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { (&asked{Server: s, w: w, r: r}).problem(err) }
	}
	mux.HandleFunc("/", refuse(errHidden))
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(refuse(errForeign))
	ours := crossOrigin.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setHeaders(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		if r.Method == http.MethodPost { // a form that is begun and not ended holds nothing
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTime))
		}
		// a page of someone else whose name leads here must not speak for a person who is signed in
		if !strings.EqualFold(r.Host, s.Public.Host) {
			refuse(errOtherHost)(w, r)
			return
		}
		ours.ServeHTTP(w, r)
	})
}

// admitted finds out who asks about what, and whether they may. It is the only place that does.
func (a *asked) admitted(rt route) error {
	if err := a.identify(); err != nil {
		return err
	}
	if rt.need == anybody || rt.need == settingUp && a.setsUp() {
		return nil
	}
	if a.who.Login == "" {
		return errSignIn
	}
	if a.alone != nil { // there is one run, and its token was shown
		if a.may = MayRead; rt.need == signedIn {
			return nil
		}
		return a.find(a.r.Context())
	}
	operates := make(chan error, 1)
	go func() { // at the same time as the other requests
		is, err := ask(a.Access.Operator, a.soon, a.who)
		a.operator = is && err == nil
		operates <- err
	}()
	if rt.need == operator || rt.need == settingUp {
		if err := <-operates; err != nil || a.operator {
			return err
		}
		return errHidden
	}
	if rt.need == signedIn {
		if err := <-operates; errors.Is(err, ErrSignedOut) {
			return err
		}
		return nil // at worst without the links of operators
	}
	err := a.find(a.r.Context())
	if err == nil && a.repository != "" {
		a.may, err = ask(func(ctx context.Context, who Identity) (Permission, error) {
			return a.Access.Permission(ctx, who, strings.ToLower(a.repository))
		}, a.soon, a.who)
	}
	unknown := <-operates
	switch {
	case err != nil:
		return err
	case a.repository == "" && unknown != nil:
		return unknown
	case a.repository == "" && a.delivery.ID != "" && a.operator: // it concerns no repository
		a.may = MayWrite
	case a.repository == "", a.may < permissions[rt.need], permissions[rt.need] == NoPermission:
		return errHidden // also for a mistake in the table
	}
	return nil
}

// find reads what the address names. Where it names nothing, nothing is found.
func (a *asked) find(ctx context.Context) (err error) {
	if id := a.r.PathValue("run"); id != "" {
		row, err := a.Runs.Run(ctx, id)
		a.run, a.repository = shown(row), row.Repository
		return err
	}
	if id := a.r.PathValue("delivery"); id != "" {
		a.delivery, err = a.Lists.Delivery(ctx, id)
		a.repository = a.delivery.Repository
		return err
	}
	a.repository = a.r.PathValue("owner") + "/" + a.r.PathValue("name")
	return nil
}

// setHeaders says to browsers what no page of ours needs.
func (s *Server) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// not no-referrer, with which forms would be sent without their origin
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if s.secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// Bounds of a form: its size in bytes, and how long it may take to arrive.
const (
	mostForm = 64 << 10
	formTime = 10 * time.Second
)

// aloneRoutes are those of one run on a person's own machine, which only its owner sees.
var aloneRoutes = append([]route{{"GET /enter", anybody, (*asked).enter}, {"GET /{$}", signedIn, (*asked).onlyRun}},
	slices.DeleteFunc(slices.Clone(routes), func(rt route) bool {
		return !strings.HasPrefix(rt.pattern, "GET /runs/") && !strings.HasPrefix(rt.pattern, "GET /static/")
	})...)

// Alone shows one run on its page, only to the person who opens the address that Enter returns.
type Alone struct{ *Server }

// AloneRun is the id of the only run, in addresses.
const AloneRun = "run"

// NewAlone makes the page of the run AloneRun of some; public is "http://127.0.0.1:41234".
func NewAlone(public *url.URL, runs Runs) (*Alone, error) {
	s, err := newServer(Options{Public: public, Runs: runs, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	s.alone = &alone{entry: random(), token: random()}
	s.cookie = "ralph-run-" + public.Port() // browsers share cookies between ports
	s.handler = s.guarded(aloneRoutes)
	return &Alone{s}, nil
}

// Enter is the address that opens the page, once.
func (a *Alone) Enter() string { return a.Public.String() + "/enter?token=" + a.alone.entry }

// Finish sends what is left to the pages that are open, reports to them that nothing more will come, and ends them.
func (a *Alone) Finish() { a.finish() }

// nobodyElse is the person who has shown the token.
var nobodyElse = Identity{Login: "you"}

func (a *asked) enter() error {
	if a.who.Login == "" { // a browser that was let in can come again
		if !same(a.alone.entry, a.r.URL.Query().Get("token")) || !a.alone.entered.CompareAndSwap(false, true) {
			return errHidden
		}
		a.keep(a.cookie, a.alone.token, SessionLife)
	}
	return a.goTo("/")
}

func (a *asked) onlyRun() error { return a.goTo(a.runPath(AloneRun)) }

// identify says who asks. No one is no error; a session that cannot be looked up is one.
func (a *asked) identify() (err error) {
	switch token := a.token(); {
	case a.alone != nil && same(a.alone.token, token):
		a.who = nobodyElse
	case a.alone == nil && token != "":
		a.who, err = a.Sessions.Find(a.r.Context(), token)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
