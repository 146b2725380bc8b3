package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Options say how to reach GitHub, and as whom. Either Token is set, or AppID and AppKey are, or As is.
type Options struct {
	Server
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
	// Patience is how long calls are retried while GitHub does not answer or has an internal error; 0: a few times.
	// That of As counts instead if As is set.
	Patience time.Duration
	// As is an App whose tokens someone else makes; then Token, AppID and AppKey do not count. nil: no App.
	As *Installation
}

// Installation is an App on one repository, as the maker of its tokens knows it.
type Installation struct {
	Login string   // what it writes as: "ralph[bot]"
	Lacks []string // permissions that it was not granted: "checks: write"
	// Token returns a valid token. refused is one that GitHub no longer accepts, which Token replaces; otherwise "".
	Token func(ctx context.Context, refused string) (string, error)
	// Patience is how long calls are retried while GitHub does not answer or has an internal error; 0: a few times.
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
	made  *Source // the tokens that New has made for an App; nil: none
	self  string
	kind  TokenKind
	// scopes are a classic token's, nil until GitHub has reported them; lacks is what the App's installation has not
	// granted.
	scopes, lacks []string
	// noChecks and noStatus are that check runs, or commit statuses, cannot be written with this token: it was tried once,
	// and said.
	noChecks, noStatus bool
	// reserved is how many calls before the first turn are for something of the caller's.
	reserved    int
	rereadLater bool // see RereadLater
}

// newClient makes a client with a token, or with those of an Installation. It calls no one.
func newClient(o Options) (*Client, error) {
	base := o.base()
	o.Sleep, base.patience = base.sleep, o.Patience
	c := &Client{o: o, wire: base, kind: kindOf(o.Token, o.JobToken)}
	token := func(context.Context, string) (string, error) { return o.Token, nil }
	switch {
	case o.As != nil:
		base.patience = o.As.Patience
		c.kind, c.self, c.lacks, token = AppToken, o.As.Login, o.As.Lacks, o.As.Token
	case o.Token == "":
		return nil, errors.New("no token: set the input github_token (the default ${{ github.token }} does), or app_id and " +
			"app_private_key")
	}
	c.token = func(ctx context.Context) (string, error) { return token(ctx, "") }
	var err error
	c.api, err = dialAt(o.APIURL, &tokenTransport{base, token})
	return c, err
}

// Token is the credential for git over HTTP; for an App it is renewed when it is about to expire.
func (c *Client) Token(ctx context.Context) (string, error) {
	t, err := c.token(ctx)
	return t, explain("getting an installation token", err)
}

// Recount begins the count of calls again: the next run of a sweep has a budget of its own.
func (c *Client) Recount() { c.wire.sent.Store(0) }

// Reserve keeps calls of the budget before the first turn for the caller: fewer authors of comments are looked up.
func (c *Client) Reserve(calls int) { c.reserved = calls }

// RereadLater has Gather leave the state as in the event, because the caller reads it with something else.
func (c *Client) RereadLater() { c.rereadLater = true }

// Self is the login that the token writes as; known after Gather.
func (c *Client) Self() string { return c.self }

// TokenNote says in one sentence each what readers of a pull request must know of the token in use; empty when there is
// nothing.
func (c *Client) TokenNote() string {
	var notes []string
	if c.kind == JobToken && c.self == actionsBot {
		notes = append(notes, "Pushed with the job's own token, which does not start other workflows: run CI on this pull "+
			"request by hand (close and reopen it), or give ralph a personal access token or an App.")
	}
	if len(c.lacks) > 0 {
		notes = append(notes, "The App's installation has not granted "+strings.Join(c.lacks, ", ")+
			": what takes it is left out.")
	}
	return strings.Join(notes, " ")
}

// TokenNotes says all that the token in use will not do, in one sentence each; what is known without asking GitHub
// again.
func (c *Client) TokenNotes() []string {
	var notes []string
	add := func(when bool, note string) {
		if when {
			notes = append(notes, note)
		}
	}
	add(c.TokenNote() != "", c.TokenNote())
	add(c.kind == JobToken, "The job's own token cannot push changes to files under .github/workflows; give ralph an "+
		"App or a personal access token that may.")
	add(c.kind.personal(), "A personal token cannot write check runs: ralph sets a commit status instead, without "+
		"annotations.")
	add(c.kind == AppToken && !c.o.AllowWorkflows, "The App's token is not asked to change files under .github/workflows.")
	if c.kind == ClassicToken && c.scopes != nil {
		has := strings.Join(c.scopes, ", ")
		add(!slices.Contains(c.scopes, "repo") && !slices.Contains(c.scopes, "public_repo"),
			"The token has the scopes "+oneLine(has)+
				": without repo, or public_repo in a public repository, it can write nothing.")
		add(!slices.Contains(c.scopes, "workflow"),
			"Without the scope workflow the token cannot push changes to files under .github/workflows.")
	}
	return notes
}

// actionsBot is who GITHUB_TOKEN writes as.
const actionsBot = "github-actions[bot]"

// whoami finds the login that the token writes as: an App's and GITHUB_TOKEN's are known, for every other token GitHub
// is asked.
func (c *Client) whoami(ctx context.Context) (string, error) {
	switch {
	case c.self != "":
		return c.self, nil
	case c.kind == JobToken: // cannot read /user
		c.self = actionsBot
		return c.self, nil
	case c.kind == InstallationToken: // neither can these, but GraphQL tells
		return c.viewer(ctx)
	}
	user, resp, err := c.api.Users.Get(ctx, "")
	if err != nil {
		return "", explain("asking who the token belongs to", err)
	}
	c.note(resp.Header)
	c.self = user.GetLogin()
	return c.self, nil
}

// note keeps the scopes that GitHub reports a classic token.
func (c *Client) note(h http.Header) {
	told, ok := h["X-Oauth-Scopes"]
	if !ok {
		return
	}
	c.scopes = []string{}
	for _, s := range strings.Split(strings.Join(told, ","), ",") {
		if s = strings.TrimSpace(s); s != "" {
			c.scopes = append(c.scopes, s)
		}
	}
	if c.kind == UnknownToken {
		c.kind = ClassicToken
	}
}

func (c *Client) viewer(ctx context.Context) (string, error) {
	var data struct{ Viewer struct{ Login string } }
	const doing = "asking who the token belongs to"
	if err := c.graphql(ctx, doing, `query { viewer { login } }`, map[string]any{}, &data); err != nil {
		return "", err
	}
	if data.Viewer.Login == "" {
		return "", missingFieldError(doing, "who that is")
	}
	c.self = data.Viewer.Login
	if !strings.HasSuffix(c.self, "[bot]") {
		c.self += "[bot]"
	}
	return c.self, nil
}

// graphqlURL is where GraphQL is asked. When GITHUB_GRAPHQL_URL does not say, it follows from REST's address:
// /api/graphql beside /api/v3 on an Enterprise Server, /graphql on every host that is an API's own.
func (o Options) graphqlURL() string {
	if o.GraphQLURL != "" {
		return o.GraphQLURL
	}
	return strings.TrimSuffix(rootOf(o.APIURL), "/v3") + "/graphql"
}

// graphql asks one question; every one of ours may be asked twice. Doing is what an error begins with.
func (c *Client) graphql(ctx context.Context, doing, query string, variables map[string]any, into any) error {
	req, err := c.api.NewRequest(http.MethodPost, c.o.graphqlURL(), map[string]any{"query": query, "variables": variables})
	if err != nil {
		return fmt.Errorf("%s: reading GITHUB_GRAPHQL_URL: %w", doing, err)
	}
	answer := struct {
		Data   any `json:"data"`
		Errors []struct{ Type, Message string }
	}{Data: into}
	if _, err := c.api.Do(ctx, req, &answer); err != nil {
		return explain(doing, err)
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("%s: GitHub says %q; %s", doing, oneLine(answer.Errors[0].Message),
			adviseGraphQL(answer.Errors[0].Type))
	}
	return nil
}

func adviseGraphQL(kind string) string {
	switch kind {
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return "give the token the permission that this takes"
	case "NOT_FOUND":
		return "it is gone, or the token may not see it"
	case "RATE_LIMITED":
		return "wait until the hour is over, or give ralph a token of its own"
	}
	return "try again, and if it stays so, tell ralph's developers"
}

// nullableTime is a time of an answer, nil for null. What an answer leaves out it does not say, which is no null.
type nullableTime struct {
	said bool
	at   *time.Time
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *nullableTime) UnmarshalJSON(text []byte) error {
	s.said = true
	return json.Unmarshal(text, &s.at)
}

// post makes something that must not be made twice. Where an earlier process may have made it, and where GitHub does not
// answer, arrived says whether it was made; if that cannot be read either, nothing more is made: better none than two.
func (c *Client) post(ctx context.Context, again bool, create func() error, arrived func() (bool, error)) error {
	if again {
		if there, err := arrived(); there || err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		err := create()
		if err == nil || !ErrAway(err) || try == maxTries {
			return err
		}
		if err := c.o.Sleep(ctx, backoff(try)); err != nil {
			return err
		}
		if there, unread := arrived(); there {
			return nil
		} else if unread != nil {
			return err
		}
	}
}

// dry reports whether writes are off, and logs the one that is left undone.
func (c *Client) dry(format string, args ...any) bool {
	if c.o.DryRun && c.o.Log != nil {
		c.o.Log("dry run: would "+format, args...)
	}
	return c.o.DryRun
}

// given is nil for what is not given.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func short(sha string) string { return sha[:min(7, len(sha))] }

// logf writes one line to the log.
func (c *Client) logf(format string, args ...any) {
	if c.o.Log != nil {
		c.o.Log(format, args...)
	}
}
