package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Server says where GitHub is, and how to call it.
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
func (s Server) base() *retrier {
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
	slug      string                   // empty until GitHub has told it
	installed map[int64]*github.Client // see as
	budgets   map[int64]int
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
	a := &App{o: o, base: o.base(), installed: map[int64]*github.Client{}, budgets: map[int64]int{}}
	var err error
	if a.signed, err = newSigned(a.base, o.ID, o.Key.rsa, o.Now); err != nil {
		return nil, err
	}
	a.api, err = dialAt(o.APIURL, a.signed)
	return a, err
}

// Self is what GitHub says of the App.
type Self struct {
	Slug, Name, Owner string
	Organization      bool   // whether the owner is one
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
	s := Self{Slug: app.GetSlug(), Name: app.GetName(), Owner: app.GetOwner().GetLogin(),
		Organization: app.GetOwner().GetType() == "Organization", Page: app.GetHTMLURL(),
		Permissions: permissionsOf(app.Permissions), Events: app.Events}
	s.Settings = a.o.Web() + "/settings/apps/" + s.Slug
	if s.Organization {
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
	if known := a.KnownLogin(); known != "" {
		return known, nil
	}
	self, err := a.Self(ctx)
	return self.Slug + "[bot]", err
}

// InstallPage is where someone installs the App, with the state that comes back to its setup address.
func (a *App) InstallPage(slug, state string) string {
	place := "/apps/"
	if a.o.enterprise() {
		place = "/github-apps/"
	}
	return a.o.Web() + place + slug + "/installations/new?state=" + url.QueryEscape(state)
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

// AppInstallation is the App in one account.
type AppInstallation struct {
	ID          int64
	Account     string // the login of a person or an organization
	Page        string // where an owner of the account changes it
	Suspended   bool   // someone has stopped it: GitHub gives no token
	Permissions Permissions
}

// ErrNotInstalled is an App that is not installed on a repository, as far as GitHub tells.
var ErrNotInstalled = errors.New("the App is not installed on it")

// mostPages bounds every list: of 100 a page.
const mostPages = 200

// Installations are all of the App's, at most 20,000.
func (a *App) Installations(ctx context.Context) ([]AppInstallation, error) {
	return pages("listing the App's installations", a.explain,
		func(o *github.ListOptions) ([]AppInstallation, *github.Response, error) {
			list, resp, err := a.api.Apps.ListInstallations(ctx, o)
			return each(list, installationOf), resp, err
		})
}

// InstallationOf is the installation that a repository belongs to; its error is ErrNotInstalled if the App is not
// installed there.
func (a *App) InstallationOf(ctx context.Context, repo event.Repo) (AppInstallation, error) {
	in, _, err := a.api.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	if err != nil {
		return AppInstallation{}, a.notInstalled("finding the App's installation on "+oneLine(repo.String()), err,
			"install it, or add the repository to its installation")
	}
	a.mu.Lock()
	a.slug = in.GetAppSlug()
	a.mu.Unlock()
	return installationOf(in), nil
}

// Installation is one by its id, as webhooks name it.
func (a *App) Installation(ctx context.Context, id int64) (AppInstallation, error) {
	in, _, err := a.api.Apps.GetInstallation(ctx, id)
	if err != nil {
		return AppInstallation{}, a.notInstalled(fmt.Sprintf("reading the App's installation %d", id), err, "it was removed")
	}
	return installationOf(in), nil
}

// notInstalled is explain for calls that are answered with 404 where the App is not installed.
func (a *App) notInstalled(doing string, err error, why string) error {
	if statusIs(err, http.StatusNotFound) {
		return fmt.Errorf("%s: %w; %s", doing, ErrNotInstalled, why)
	}
	return a.explain(doing, err)
}

func installationOf(in *github.Installation) AppInstallation {
	return AppInstallation{ID: in.GetID(), Account: in.GetAccount().GetLogin(), Page: in.GetHTMLURL(),
		Suspended: in.SuspendedAt != nil, Permissions: permissionsOf(in.Permissions)}
}

// pages reads all pages of a list.
func pages[T any](doing string, explain func(string, error) error,
	read func(*github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	opts := &github.ListOptions{PerPage: 100}
	var all []T
	for range mostPages {
		list, resp, err := read(opts)
		if err != nil {
			return nil, explain(doing, err)
		}
		all = append(all, list...)
		if resp.NextPage == 0 {
			return all, nil
		}
		opts.Page = resp.NextPage
	}
	return nil, fmt.Errorf("%s: there are more than %d", doing, mostPages*opts.PerPage)
}

func each[F, T any](from []*F, to func(*F) T) []T {
	all := make([]T, 0, len(from))
	for _, f := range from {
		all = append(all, to(f))
	}
	return all
}

// Grant says what an installation has not been granted, and who can change that where.
type Grant struct {
	Lacks   []string // "checks: write"; empty: nothing
	Problem string   // one sentence; empty when nothing lacks and it is not suspended
	Advice  string   // what to do, one sentence
}

// Grants holds an installation against what ralph needs there. self is the App as GitHub knows it.
func Grants(self Self, in AppInstallation, need Permissions) Grant {
	g := Grant{Lacks: need.Lacks(in.Permissions)}
	switch {
	case in.Suspended:
		g.Problem = "The App's installation on " + oneLine(in.Account) + " is suspended."
		g.Advice = "Unsuspend it at " + in.Page + "."
		return g
	case len(g.Lacks) == 0:
		return g
	}
	g.Problem = "The App's installation on " + oneLine(in.Account) + " has not been granted " + strings.Join(g.Lacks, ", ") +
		"."
	if missing := need.Lacks(self.Permissions); len(missing) > 0 {
		page := self.Settings + "/permissions"
		g.Advice = "Give the App " + strings.Join(missing, ", ") + " at " + page + ", then accept it for " +
			oneLine(in.Account) + " at " + in.Page + "."
		return g
	}
	g.Advice = "The App asks for it already: an owner of " + oneLine(in.Account) + " accepts it at " + in.Page + "."
	return g
}

// mostInstalled bounds the installations whose tokens and budgets are kept at a time.
const mostInstalled = 10_000

// as is the App in an installation. Its token is made when it is first used.
func (a *App) as(installation int64) *github.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	if api := a.installed[installation]; api != nil {
		return api
	}
	if len(a.installed) >= mostInstalled {
		a.installed, a.budgets = map[int64]*github.Client{}, map[int64]int{}
	}
	source := a.source(func(ctx context.Context) (Token, error) { return a.make(ctx, installation, nil, deciding()) })
	api, _ := dialAt(a.o.APIURL, &tokenTransport{&counted{a, installation}, source.Token}) // which was read to open the App
	a.installed[installation] = api
	return api
}

// counted carries requests and notes what answers say of the budget.
type counted struct {
	app          *App
	installation int64
}

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.app.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resource := resp.Header.Get("X-Ratelimit-Resource")
	if left, none := strconv.Atoi(resp.Header.Get("X-Ratelimit-Remaining")); none == nil && (resource == "core" || resource == "") {
		c.app.mu.Lock()
		defer c.app.mu.Unlock()
		c.app.budgets[c.installation] = left
	}
	return resp, nil
}

// Budgets are how many calls installations may still make in this hour, as their newest answers to this process said. All
// tokens of one share it.
func (a *App) Budgets() map[int64]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.budgets)
}

// Token is an installation token. It shows its value nowhere: not in logs, errors or JSON.
type Token struct {
	Value string    `json:"-"`
	Ends  time.Time // by GitHub's clock; an hour after it was made
	// Lacks are the requested permissions that the installation has not been granted: "checks: write".
	Lacks []string
}

// String hides the value.
func (t Token) String() string { return "[a token until " + t.Ends.UTC().Format(time.RFC3339) + "]" }

// GoString hides the value.
func (t Token) GoString() string { return t.String() }

// Token makes a token of an installation that is for one repository ("demo", or "alice/demo") and for what is needed
// alone. Where less was granted, it may do as much as was.
func (a *App) Token(ctx context.Context, installation int64, repository string, want Permissions) (Token, error) {
	if _, short, ok := strings.Cut(repository, "/"); ok {
		repository = short
	}
	if repository == "" || len(want) == 0 {
		return Token{}, errors.New("getting an installation token: it must name a repository and permissions; without them " +
			"it would be for everything")
	}
	return a.make(ctx, installation, []string{repository}, want)
}

// make asks for a token; without repositories it is for all of the installation's.
func (a *App) make(ctx context.Context, installation int64, repositories []string, want Permissions) (Token, error) {
	doing := fmt.Sprintf("getting a token of the installation %d", installation)
	if len(repositories) > 0 {
		doing += " for " + oneLine(strings.Join(repositories, ", "))
	}
	opts := &github.InstallationTokenOptions{Repositories: repositories, Permissions: want.shape()}
	made, _, err := a.api.Apps.CreateInstallationToken(ctx, installation, opts)
	var lacks []string
	if refused(err) {
		in, inErr := a.Installation(ctx, installation)
		if inErr != nil {
			return Token{}, inErr
		}
		if lacks = want.Lacks(in.Permissions); len(lacks) > 0 {
			opts.Permissions = want.within(in.Permissions).shape()
			made, _, err = a.api.Apps.CreateInstallationToken(ctx, installation, opts)
		}
	}
	switch {
	case refused(err):
		return Token{}, fmt.Errorf("%s: GitHub refuses it: the repository is not, or no longer, one of the installation's; "+
			"add it on the installation's page: %w", doing, briefly(err))
	case statusIs(err, http.StatusForbidden):
		return Token{}, fmt.Errorf("%s: GitHub gives none; look whether the installation is suspended: %w", doing,
			briefly(err))
	case err != nil:
		return Token{}, a.notInstalled(doing, err, "it was removed")
	case made.GetToken() == "":
		return Token{}, missingFieldError(doing, "a token")
	}
	return Token{Value: made.GetToken(), Ends: made.GetExpiresAt().Time, Lacks: lacks}, nil
}

// ErrSignedOut is a person's token that GitHub no longer accepts: they must sign in again.
var ErrSignedOut = errors.New("GitHub no longer accepts this sign-in; sign in again")

// asPerson is a client with a person's token.
func (a *App) asPerson(token string) (*github.Client, error) {
	if token == "" {
		return nil, ErrSignedOut
	}
	same := func(context.Context, string) (string, error) { return token, nil }
	return dialAt(a.o.APIURL, &tokenTransport{a.base, same})
}

// Revoke revokes a token. An expired one is no error.
func (a *App) Revoke(ctx context.Context, t Token) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	api, err := a.asPerson(t.Value)
	if err == nil {
		_, err = api.Apps.RevokeInstallationToken(ctx)
	}
	if statusIs(err, http.StatusUnauthorized) {
		return nil
	}
	return explain("revoking an installation token, which expires by itself within the hour", err)
}

// Source gives tokens for one repository and renews them. Its methods may be called by several goroutines.
type Source struct {
	app   *App
	fresh func(context.Context) (Token, error)
	turn  chan struct{} // holds one element while no one is making a token

	mu    sync.Mutex
	token Token
	made  time.Time
	old   []Token // which may be in use still
}

// A token counts for an hour. It is replaced before, by how long it is known: clocks may differ, and may be set.
const (
	tokenUse  = 50 * time.Minute
	tokenLeft = 5 * time.Minute
)

// source makes a source of tokens. It calls no one before it is asked.
func (a *App) source(fresh func(context.Context) (Token, error)) *Source {
	s := &Source{app: a, fresh: fresh, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Token is the value of a token that counts for five more minutes at least, and is not the one that was refused ("":
// none was). It is what a client's Installation has.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	if refused != "" {
		s.forget(refused)
	}
	t, err := s.Current(ctx)
	return t.Value, err
}

// Current is a token that counts for five more minutes at least.
func (s *Source) Current(ctx context.Context) (Token, error) {
	if t, ok := s.known(); ok {
		return t, nil
	}
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
	if t, ok := s.known(); ok { // someone else has made it meanwhile
		return t, nil
	}
	begun := s.app.o.Now()
	t, err := s.fresh(ctx)
	if err != nil {
		return Token{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.Value != "" {
		s.old = append(s.old[max(0, len(s.old)-1):], s.token) // an older one has expired
	}
	s.token, s.made = t, begun
	return t, nil
}

func (s *Source) known() (Token, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.app.o.Now()
	return s.token, s.token.Value != "" && now.Sub(s.made).Abs() < tokenUse && s.token.Ends.Sub(now) > tokenLeft
}

// forget makes the next call ask for another token: GitHub did not accept this one.
func (s *Source) forget(refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.Value == refused {
		s.made = time.Time{}
	}
}

// Revoke shuts out all tokens that the source has made. It can be used again.
func (s *Source) Revoke(ctx context.Context) error {
	s.mu.Lock()
	tokens := s.old
	if s.token.Value != "" {
		tokens = append(tokens, s.token)
	}
	s.token, s.old = Token{}, nil
	s.mu.Unlock()
	var errs []error
	for _, t := range tokens {
		errs = append(errs, s.app.Revoke(ctx, t))
	}
	return errors.Join(errs...)
}
