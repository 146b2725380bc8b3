package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

func rootOf(apiURL string) string {
	if apiURL == "" {
		return "https://api.github.com"
	}
	return strings.TrimSuffix(apiURL, "/")
}

// dialAt makes a client of the API that has its root there.
func dialAt(apiURL string, carrier http.RoundTripper) (*github.Client, error) {
	api := github.NewClient(&http.Client{Transport: carrier, Timeout: mostTime, CheckRedirect: stay})
	address, err := url.Parse(rootOf(apiURL) + "/")
	if err != nil {
		return nil, fmt.Errorf("reading GITHUB_API_URL: %w", err)
	}
	api.BaseURL = address
	return api, nil
}

// stay follows a redirect, as of a renamed repository, on the same host alone: the token goes nowhere else.
func stay(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// revokeTime bounds a revocation: a job that was canceled has seconds left.
const revokeTime = 3 * time.Second

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

// tokenTransport gets a token for each request, and sends the request again with another one if GitHub refuses the
// first.
type tokenTransport struct {
	next  http.RoundTripper
	token func(ctx context.Context, refused string) (string, error)
}

// RoundTrip implements http.RoundTripper.
func (l *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := l.token(req.Context(), "")
	if err != nil {
		return nil, fmt.Errorf("getting an installation token: %w", err)
	}
	resp, err := l.send(req, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	other, none := l.token(req.Context(), token)
	if none != nil || other == token {
		return resp, nil //nolint:nilerr // GitHub's own answer says more
	}
	discard(resp)
	return l.send(req, other)
}

func (l *tokenTransport) send(req *http.Request, token string) (*http.Response, error) {
	req = again(req)
	req.Header.Set("Authorization", "Bearer "+token)
	return l.next.RoundTrip(req)
}
