package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
)

// Server says where GitHub is, and how it is spoken to.
type Server struct {
	APIURL string // "https://ghe.example/api/v3"; empty: https://api.github.com
	WebURL string // where people go: "https://ghe.example"; empty: as the API's address says
	// Log hears of calls that are tried again; nil: no one does.
	Log     func(format string, args ...any)
	Sleep   func(context.Context, time.Duration) error // nil: real time
	Timeout time.Duration                              // of one try of a call; zero is 30 seconds
}

// Web is where people go, without a slash at its end.
func (s Server) Web() string {
	if s.WebURL != "" {
		return strings.TrimSuffix(s.WebURL, "/")
	}
	root := rootOf(s.APIURL)
	if server, ok := strings.CutSuffix(root, "/api/v3"); ok { // an Enterprise Server
		return server
	}
	return strings.Replace(root, "://api.", "://", 1)
}

// enterprise reports whether it is a GitHub Enterprise Server, whose pages of Apps have another address.
func (s Server) enterprise() bool { return strings.HasSuffix(rootOf(s.APIURL), "/api/v3") }

// base carries requests and tries them again.
func (s Server) base() http.RoundTripper {
	r := &retrier{next: http.DefaultTransport, sleep: s.Sleep, log: s.Log, timeout: cmp.Or(s.Timeout, requestTimeout)}
	if r.sleep == nil {
		r.sleep = sleep
	}
	return r
}

// AppOptions are what an App is opened with.
type AppOptions struct {
	Server
	ID  int64
	Key Key
	// ClientID and ClientSecret let people sign in; both empty: no one can.
	ClientID, ClientSecret string
	Now                    func() time.Time // nil: time.Now
}

// App is a GitHub App of ours: it finds its installations, makes their tokens, and lets people sign in. Its methods may
// be called by several goroutines.
type App struct {
	o      AppOptions
	base   http.RoundTripper
	signed *signed
	api    *github.Client // as the App itself

	mu        sync.Mutex
	slug      string // empty until GitHub has told it
	installed map[int64]*installed
}

// OpenApp makes the App's client. It calls no one: Self tells whether GitHub knows the App.
func OpenApp(o AppOptions) (*App, error) {
	switch {
	case o.ID <= 0:
		return nil, errors.New("opening the App: there is no App ID; it is a number on the App's page, under About")
	case o.Key.rsa == nil:
		return nil, errors.New("opening the App: there is no private key; make one on the App's page, under Private keys")
	case (o.ClientID == "") != (o.ClientSecret == ""):
		return nil, errors.New("opening the App: client ID and client secret belong together, and one of them is missing; " +
			"both are on the App's page")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{o: o, base: o.base(), installed: map[int64]*installed{}}
	a.signed = &signed{next: a.base, id: o.ID, key: o.Key.rsa, now: o.Now}
	api, err := dialAt(rootOf(o.APIURL), &http.Client{Transport: a.signed, Timeout: mostTime})
	if err != nil {
		return nil, err
	}
	a.api = api
	return a, nil
}

// Self is what GitHub says of the App.
type Self struct {
	ID                int64
	Slug, Name, Owner string
	Organisation      bool   // whether the owner is one
	Page              string // where everyone sees it, and can install it
	Settings          string // where its owner changes permissions, events and keys
	Permissions       Permissions
	Events            []string
}

// Self asks GitHub who the App is. It is the test of the ID and the key.
func (a *App) Self(ctx context.Context) (Self, error) {
	app, _, err := a.api.Apps.Get(ctx, "")
	if err != nil {
		return Self{}, a.explain("asking who the App is", err)
	}
	a.mu.Lock()
	a.slug = app.GetSlug()
	a.mu.Unlock()
	s := Self{ID: app.GetID(), Slug: app.GetSlug(), Name: app.GetName(), Owner: app.GetOwner().GetLogin(),
		Organisation: app.GetOwner().GetType() == "Organization", Page: app.GetHTMLURL(),
		Permissions: permissionsOf(app.Permissions), Events: app.Events}
	s.Settings = a.o.Web() + "/settings/apps/" + s.Slug
	if s.Organisation {
		s.Settings = a.o.Web() + "/organizations/" + s.Owner + "/settings/apps/" + s.Slug
	}
	return s, nil
}

// KnownLogin is Login where GitHub has told it already, and "" before. It calls no one.
func (a *App) KnownLogin() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.slug == "" {
		return ""
	}
	return a.slug + "[bot]"
}

// Login is whom the App writes as, such as "ralph[bot]".
func (a *App) Login(ctx context.Context) (string, error) {
	a.mu.Lock()
	slug := a.slug
	a.mu.Unlock()
	if slug == "" {
		self, err := a.Self(ctx)
		if err != nil {
			return "", err
		}
		slug = self.Slug
	}
	return slug + "[bot]", nil
}

// InstallPage is where someone installs the App, with the state that comes back to its setup address.
func (a *App) InstallPage(slug, state string) string {
	place := "/apps/"
	if a.o.enterprise() {
		place = "/github-apps/"
	}
	return a.o.Web() + place + slug + "/installations/new?state=" + escape(state)
}

// ClockOff is how far GitHub's clock is ahead of this machine's, as its newest answer to the App said; zero until there
// was one.
func (a *App) ClockOff() time.Duration { return a.signed.off() }

// explain is explain for calls that the App itself signs.
func (a *App) explain(doing string, err error) error {
	if !statusIs(err, http.StatusUnauthorized) {
		return explain(doing, err)
	}
	var api *github.ErrorResponse
	errors.As(err, &api)
	return &failed{fmt.Sprintf("%s: GitHub does not accept what the App %d signs (401: %s); check that the App ID and "+
		"the private key belong together and that the key was not deleted on the App's page", doing, a.o.ID,
		oneLine(api.Message)), err}
}
