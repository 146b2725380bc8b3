package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// need is what somebody must be to be answered at all.
type need int

const (
	anybody  need = iota
	signedIn      // rows are held to what the person may read
	reader        // of the repository that the request is about
	writer        // of it
	operator
	settingUp // whoever has shown the one-time code, or an operator
)

// subject is how a request names the repository that it is about.
type subject int

const (
	ofNone subject = iota
	ofRun
	ofRepository
	ofDelivery
)

// kind is what answers a request; it says what a refusal looks like.
type kind int

const (
	isPage kind = iota // whoever is not signed in is sent to do it
	isData             // for programs, and forms: refused
)

// route is one thing that can be asked for.
type route struct {
	pattern string
	need    need
	of      subject
	kind    kind
	answer  func(*asked) error
}

// routes are all there are. Nothing is answered that is not here, and nobody is asked again behind it.
var routes = []route{
	{"GET /{$}", signedIn, ofNone, isPage, (*asked).now},
	{"GET /runs/{run}", reader, ofRun, isPage, (*asked).runPage},
	{"GET /runs/{run}/live", reader, ofRun, isData, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, ofRun, isData, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, ofRun, isData, (*asked).prompt},
	{"POST /runs/{run}/stop", writer, ofRun, isData, action(Stop)},
	{"POST /runs/{run}/retry", writer, ofRun, isData, action(Retry)},
	{"POST /runs/{run}/hint", writer, ofRun, isData, action(Hint)},
	{"POST /runs/{run}/approve", writer, ofRun, isData, action(Approve)},
	{"GET /repositories", signedIn, ofNone, isPage, (*asked).repositories},
	{"GET /repositories/{owner}/{name}", reader, ofRepository, isPage, (*asked).repositoryPage},
	{"GET /deliveries", signedIn, ofNone, isPage, (*asked).deliveries},
	{"GET /deliveries/{delivery}", reader, ofDelivery, isPage, (*asked).deliveryPage},
	{"POST /deliveries/{delivery}/redeliver", writer, ofDelivery, isData, action(Redeliver)},
	{"GET /spend", signedIn, ofNone, isPage, (*asked).spend},
	{"GET /audit", signedIn, ofNone, isPage, (*asked).audit},
	{"GET /setup", settingUp, ofNone, isPage, (*asked).setupPage},
	{"GET /setup/created", settingUp, ofNone, isData, (*asked).created},
	{"GET /setup/code", anybody, ofNone, isPage, (*asked).codePage},
	{"POST /setup/code", anybody, ofNone, isData, (*asked).redeem},
	{"GET /sign-in", anybody, ofNone, isPage, (*asked).signInPage},
	{"GET /sign-in/github", anybody, ofNone, isPage, (*asked).beginSignIn},
	{"GET /sign-in/callback", anybody, ofNone, isPage, (*asked).endSignIn},
	{"POST /sign-out", anybody, ofNone, isData, (*asked).signOut},
	{"POST /sign-out/everywhere", signedIn, ofNone, isData, (*asked).signOutEverywhere},
	{"GET /static/{file}", anybody, ofNone, isData, (*asked).static},
}

// asked is one request by one person.
type asked struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	who  Identity // nobody: Login is ""
	kind kind
	may  Permission // in repository
	// what the request is about, as far as its route says so
	repository string
	run        Run
	delivery   Delivery
	operator   bool
}

// Errors that a request ends with, and that its answer is made of.
var (
	errSignIn = errors.New("nobody is signed in")
	errHidden = errors.New("nothing that this person may see")
)

// guarded answers the routes and nothing else.
func (s *Server) guarded(table []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range table {
		mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			a := &asked{Server: s, w: w, r: r, kind: rt.kind}
			if err := a.admitted(rt); err != nil {
				a.problem(err)
				return
			}
			if err := rt.answer(a); err != nil {
				a.problem(err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&asked{Server: s, w: w, r: r}).problem(errHidden)
	})
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&asked{Server: s, w: w, r: r}).problem(errForeign)
	}))
	return s.withHeaders(s.ownHost(crossOrigin.Handler(mux)))
}

// admitted finds out who asks about what, and whether they may. It is the only place that does.
func (a *asked) admitted(rt route) error {
	if err := a.identify(); err != nil {
		return err
	}
	if rt.need == anybody {
		return nil
	}
	ctx := a.r.Context()
	if rt.need == settingUp && a.setup.holds(a.cookieValue(setupCookie)) {
		return nil
	}
	if a.who.Login == "" {
		return errSignIn
	}
	if rt.need == signedIn || rt.need == operator || rt.need == settingUp || rt.of == ofDelivery {
		a.operator = a.access.operator(ctx, a.who)
	}
	switch rt.need {
	case signedIn:
		return nil
	case operator, settingUp:
		if !a.operator {
			return errHidden
		}
		return nil
	}
	if err := a.find(ctx, rt.of); err != nil {
		return err
	}
	return a.permitted(ctx, rt)
}

// permitted holds a request to what the person may do with what it is about.
func (a *asked) permitted(ctx context.Context, rt route) error {
	if a.repository == "" { // a delivery that concerns no repository
		if rt.of == ofDelivery && a.operator {
			a.may = MayWrite
			return nil
		}
		return errHidden
	}
	a.may = a.access.permission(ctx, a.who, a.repository)
	least := MayRead
	if rt.need == writer {
		least = MayWrite
	}
	if a.may < least {
		return errHidden
	}
	return nil
}

// find reads what the address names.
func (a *asked) find(ctx context.Context, of subject) (err error) {
	switch of {
	case ofRun:
		a.run, err = a.Source.Runs.Run(ctx, a.r.PathValue("run"))
		a.repository = a.run.Repository
	case ofDelivery:
		a.delivery, err = a.Source.Deliveries.Delivery(ctx, a.r.PathValue("delivery"))
		a.repository = a.delivery.Repository
	case ofRepository:
		a.repository = a.r.PathValue("owner") + "/" + a.r.PathValue("name")
	default:
		return errHidden // a mistake in the table must not open anything
	}
	if errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// local is a path on these pages to go on to, "/" for anything else.
func local(path string) string {
	if len(path) > 1000 || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	if u, err := url.Parse(path); err != nil || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return path
}
