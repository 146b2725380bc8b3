package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Options say how to reach GitHub, and as whom. Either Token is set, or AppID and AppKey are, or As is.
type Options struct {
	APIURL     string // GITHUB_API_URL: "https://api.github.com", "https://ghe.example/api/v3"
	GraphQLURL string // GITHUB_GRAPHQL_URL
	Repo       event.Repo
	Token      string
	AppID      int64
	AppKey     []byte // PEM
	// JobToken is the job's own token when it is known: it tells an App's token that the workflow made from the job's.
	// Optional.
	JobToken string
	// AllowWorkflows asks an App's token to be one that may push changes of workflow files.
	AllowWorkflows bool
	// CommentsBy says whose comments reach the agent: no one's permission is looked up who does not have to write for
	// that.
	CommentsBy event.CommentsBy
	// DryRun leaves every write undone and logs it instead.
	DryRun bool
	Log    func(format string, args ...any)
	Sleep  func(context.Context, time.Duration) error // nil: real time
	// Timeout bounds one try of one call; zero is 30 seconds.
	Timeout time.Duration
	// Patience is for how long GitHub is asked again while it does not answer or has trouble of its own; 0: a few times.
	// That of As counts instead where there is one.
	Patience time.Duration
	// As is an App whose tokens someone else makes; Token, AppID and AppKey do not count then. nil: there is none.
	As *Installation
}

// Installation is an App on one repository, as whoever makes its tokens knows it.
type Installation struct {
	Login string   // what it writes as: "ralph[bot]"
	Lacks []string // permissions that it was not granted: "checks: write"
	// Token is a token for now. refused is one that GitHub does not take any more, which is to be replaced; "" else.
	Token func(ctx context.Context, refused string) (string, error)
	// Patience is for how long GitHub is asked again while it does not answer or has trouble of its own; 0: a few times.
	Patience time.Duration
	// Known are permissions, by login in lower case, that were read for the decision: "write". They are not read again, and
	// the sender of a label is who added it, because GitHub signed that. nil: nothing was read.
	Known map[string]string
}

// Client reads and writes one repository on GitHub.
type Client struct {
	o     Options
	api   *github.Client
	wire  *retrier
	token func(context.Context) (string, error)
	made  *appTransport // nil unless the client is an App
	self  string
	app   bool
	kind  TokenKind
	// scopes are a classic token's, nil as long as GitHub has not told them; lacks is what the App's installation has not
	// granted.
	scopes, lacks []string
	// noChecks and noStatus are that check runs, or commit statuses, cannot be written with this token: it was tried once,
	// and said.
	noChecks, noStatus bool
	// noStatuses is that commit statuses cannot be read, which was said.
	noStatuses bool
	// reserved is how many calls before the first turn are for something of the caller's.
	reserved    int
	rereadLater bool // see RereadLater
}

const (
	requestTimeout = 30 * time.Second // bounds one try of a call
	mostTime       = 10 * time.Minute // bounds a call with all its tries
)

// New makes a client. It calls GitHub only for an App, to find its installation.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	base := &retrier{next: http.DefaultTransport, sleep: o.Sleep, log: o.Log, timeout: cmp.Or(o.Timeout, requestTimeout),
		patience: o.Patience}
	c := &Client{o: o, wire: base}
	polls := &etags{next: base}
	if o.As != nil {
		base.patience = o.As.Patience
		return c, c.useTokensOf(o.As, polls)
	}
	if o.AppID != 0 {
		return c, c.useApp(ctx, polls)
	}
	if o.Token == "" {
		return nil, errors.New("no token: set the input github_token (the default ${{ github.token }} does), or app_id and " +
			"app_private_key")
	}
	c.kind = kindOf(o.Token, o.JobToken)
	c.token = func(context.Context) (string, error) { return o.Token, nil }
	api, err := c.dial(&http.Client{Transport: polls, Timeout: mostTime})
	if err != nil {
		return nil, err
	}
	c.api = api.WithAuthToken(o.Token)
	return c, nil
}

// Token is the credential for git over HTTP; for an App it is renewed when it is about to expire.
func (c *Client) Token(ctx context.Context) (string, error) {
	t, err := c.token(ctx)
	if err != nil {
		return "", explain("getting an installation token", err)
	}
	return t, nil
}

// Recount begins the count of calls again: the next run of a sweep has a budget of its own.
func (c *Client) Recount() { c.wire.sent.Store(0) }

// Reserve keeps calls of the budget before the first turn for the caller: fewer authors of comments are looked up.
func (c *Client) Reserve(calls int) { c.reserved = calls }

// RereadLater has Gather leave the state as the event told it: it is asked for together with something else.
func (c *Client) RereadLater() { c.rereadLater = true }

// Self is the login that the token writes as; known after Gather.
func (c *Client) Self() string { return c.self }
