package github

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// TokenKind is what a token stands for. It decides what GitHub lets it do beside its permissions.
type TokenKind string

// The kinds of token, in the words that people know them by.
const (
	JobToken          TokenKind = "the job's own token (GITHUB_TOKEN)"
	AppToken          TokenKind = "an installation token of the App" // ralph made it of app_id and app_private_key
	InstallationToken TokenKind = "an installation token of an App"  // a step of the workflow made it
	ClassicToken      TokenKind = "a classic personal access token"
	FineToken         TokenKind = "a fine-grained personal access token"
	UserToken         TokenKind = "a token of an App that acts for a person"
	UnknownToken      TokenKind = "a token of a kind that ralph does not know"
)

// kindOf tells a token by how it begins. A classic token from before 2021 is 40 hexadecimal digits. Every installation
// token begins with ghs_, the job's too: it is another App's when the job's own is known and is a different one.
func kindOf(token, job string) TokenKind {
	for prefix, kind := range map[string]TokenKind{"ghp_": ClassicToken, "gho_": UserToken, "ghu_": UserToken,
		"github_pat_": FineToken} {
		if strings.HasPrefix(token, prefix) {
			return kind
		}
	}
	switch {
	case strings.HasPrefix(token, "ghs_") && (job == "" || job == token):
		return JobToken
	case strings.HasPrefix(token, "ghs_"):
		return InstallationToken
	case len(token) == 40 && strings.Trim(token, "0123456789abcdef") == "":
		return ClassicToken
	}
	return UnknownToken
}

// personal reports whether a person's name is behind the token: GitHub lets no person write check runs.
func (k TokenKind) personal() bool { return k == ClassicToken || k == FineToken || k == UserToken }

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
	add(c.app && !c.o.AllowWorkflows, "The App's token is not asked to change files under .github/workflows.")
	if c.kind == ClassicToken && c.scopes != nil {
		has := strings.Join(c.scopes, ", ")
		add(!c.scope("repo") && !c.scope("public_repo"),
			"The token has the scopes "+oneLine(has)+
				": without repo, or public_repo in a public repository, it can write nothing.")
		add(!c.scope("workflow"),
			"Without the scope workflow the token cannot push changes to files under .github/workflows.")
	}
	return notes
}

func (c *Client) scope(name string) bool {
	return slices.Contains(c.scopes, name)
}

// actionsBot is who GITHUB_TOKEN writes as.
const actionsBot = "github-actions[bot]"

// whoami finds the login that the token writes as: an App's and GITHUB_TOKEN's are known, every other token's is asked
// for.
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
