package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Options say how to reach GitHub, and as whom (B-30, B-31). Either Token is set, or AppID and AppKey are.
type Options struct {
	APIURL     string // GITHUB_API_URL: "https://api.github.com", "https://ghe.example/api/v3"
	GraphQLURL string // GITHUB_GRAPHQL_URL
	Repo       event.Repo
	Token      string
	AppID      int64
	AppKey     []byte // PEM
	// DryRun leaves every write undone and logs it instead (B-32).
	DryRun bool
	Log    func(format string, args ...any)
	Sleep  func(context.Context, time.Duration) error // nil: real time
}

// Client reads and writes one repository on GitHub.
type Client struct {
	o     Options
	api   *github.Client
	wire  *retrier
	token func(context.Context) (string, error)
	self  string
	app   bool
	// reserved is how many calls before the first turn are for something of the caller's.
	reserved int
}

// requestTimeout bounds one call, retries apart.
const requestTimeout = 30 * time.Second

// New makes a client. It calls GitHub only for an App, to find its installation.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	base := &retrier{next: http.DefaultTransport, sleep: o.Sleep, log: o.Log}
	c := &Client{o: o, wire: base}
	if o.AppID != 0 {
		return c, c.useApp(ctx, base)
	}
	if o.Token == "" {
		return nil, errors.New("no token: set the input github_token (the default ${{ github.token }} does), or app_id and app_private_key")
	}
	c.token = func(context.Context) (string, error) { return o.Token, nil }
	api, err := c.dial(&http.Client{Transport: base, Timeout: 10 * time.Minute})
	if err != nil {
		return nil, err
	}
	c.api = api.WithAuthToken(o.Token)
	return c, nil
}

func (c *Client) useApp(ctx context.Context, base http.RoundTripper) error {
	apps, err := ghinstallation.NewAppsTransport(base, c.o.AppID, c.o.AppKey)
	if err != nil {
		return fmt.Errorf("reading the input app_private_key: %w; paste the whole PEM file of the App's key", err)
	}
	apps.BaseURL = strings.TrimSuffix(c.o.APIURL, "/")
	asApp, err := c.dial(&http.Client{Transport: apps})
	if err != nil {
		return err
	}
	installation, _, err := asApp.Apps.FindRepositoryInstallation(ctx, c.o.Repo.Owner, c.o.Repo.Name)
	if err != nil {
		return fmt.Errorf("finding the App %d's installation on %s: %w; install the App on this repository", c.o.AppID, c.o.Repo, err)
	}
	tr := ghinstallation.NewFromAppsTransport(apps, installation.GetID())
	tr.InstallationTokenOptions = &github.InstallationTokenOptions{
		Repositories: []string{c.o.Repo.Name},
		Permissions: &github.InstallationPermissions{
			Contents: github.String("write"), Issues: github.String("write"), PullRequests: github.String("write"), Metadata: github.String("read"),
		},
	}
	c.app, c.self = true, installation.GetAppSlug()+"[bot]"
	c.token = tr.Token
	c.api, err = c.dial(&http.Client{Transport: tr})
	return err
}

func (c *Client) dial(h *http.Client) (*github.Client, error) {
	api := github.NewClient(h)
	if c.o.APIURL == "" || c.o.APIURL == "https://api.github.com" {
		return api, nil
	}
	address, err := url.Parse(strings.TrimSuffix(c.o.APIURL, "/") + "/")
	if err != nil {
		return nil, fmt.Errorf("reading GITHUB_API_URL: %w", err)
	}
	api.BaseURL = address
	return api, nil
}

// Token is the credential for git over HTTP; for an App it is renewed when it is about to expire (B-42).
func (c *Client) Token(ctx context.Context) (string, error) {
	t, err := c.token(ctx)
	if err != nil {
		return "", fmt.Errorf("getting an installation token: %w", err)
	}
	return t, nil
}

// Recount begins the count of calls anew: the next run of a sweep has a budget of its own.
func (c *Client) Recount() { c.wire.sent.Store(0) }

// Reserve keeps calls of the budget before the first turn for the caller: fewer authors of comments are looked up.
func (c *Client) Reserve(calls int) { c.reserved = calls }

// Self is the login that the token writes as; known after Gather.
func (c *Client) Self() string { return c.self }

// TokenNote says in one sentence what the token in use will not do; empty when there is nothing to say (B-30).
func (c *Client) TokenNote() string {
	if c.app || c.self != actionsBot {
		return ""
	}
	return "Pushed with the job's own token, which does not start other workflows: run CI on this pull request by hand (close and reopen it), or give ralph a personal access token or an App."
}

// actionsBot is who GITHUB_TOKEN writes as.
const actionsBot = "github-actions[bot]"

// whoami finds the login that the token writes as: an App's and GITHUB_TOKEN's are known, a personal token's is asked for.
func (c *Client) whoami(ctx context.Context) (string, error) {
	if c.self != "" {
		return c.self, nil
	}
	if strings.HasPrefix(c.o.Token, "ghs_") { // installation tokens cannot read /user
		c.self = actionsBot
		return c.self, nil
	}
	user, _, err := c.api.Users.Get(ctx, "")
	if err != nil {
		return "", explain("asking who the token belongs to", err)
	}
	c.self = user.GetLogin()
	return c.self, nil
}

// explain adds to an API error what the reader can do about it.
func explain(doing string, err error) error {
	var api *github.ErrorResponse
	if !errors.As(err, &api) || api.Response == nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch api.Response.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s: GitHub does not accept the token (401); renew it or the secret it comes from: %w", doing, err)
	case http.StatusForbidden:
		return fmt.Errorf("%s: the token may not do this (403); the job needs permissions contents, issues and pull-requests: write: %w", doing, err)
	case http.StatusNotFound:
		return fmt.Errorf("%s: GitHub does not find it, or the token may not see it (404): %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
