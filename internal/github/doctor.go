package github

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Grade is how a fact stands.
type Grade string

// The grades of a fact.
const (
	OK      Grade = "ok"
	Warning Grade = "warning" // ralph works, but not all of it
	Problem Grade = "problem" // ralph does not work before it is fixed
	Unknown Grade = "unknown" // the token may not see it
)

// Fact is one thing about the repository or the token that matters to ralph.
type Fact struct {
	What   string // a few words: "the token", "branch protection"
	Grade  Grade
	Says   string // one sentence on how it is; names in it are what people wrote
	Advice string // what to do, one sentence; empty when there is nothing to do
}

// Report is what was found, in an order that reads well.
type Report struct {
	Facts  []Fact
	Labels []string // those that were asked for and do not exist: MakeLabel makes them
}

// Examine looks at everything on GitHub that ralph needs: the token, the repository, Actions, the labels, the rules of
// the branch (the default branch when it is empty), secrets by their names, and the workflow file. It writes nothing,
// and what cannot be read is a fact too: there is no error.
func (c *Client) Examine(ctx context.Context, labels []string, branch string) Report {
	e := &factCollector{c: c, ctx: ctx}
	e.examine(labels, branch)
	return e.report
}

func (e *factCollector) examine(labels []string, branch string) {
	if !e.token() || !e.repository() {
		return
	}
	branch = cmp.Or(branch, e.repo.GetDefaultBranch())
	e.actions()
	e.labels(labels)
	e.rules(branch)
	e.secrets()
	e.workflow(branch)
}

// useTokensOf makes the client write as an App whose tokens someone else makes and revokes.
func (c *Client) useTokensOf(as *Installation, next http.RoundTripper) (err error) {
	c.app, c.kind, c.self, c.lacks = true, AppToken, as.Login, as.Lacks
	c.token = func(ctx context.Context) (string, error) { return as.Token(ctx, "") }
	c.api, err = c.dial(&http.Client{Transport: &tokenTransport{next, as.Token}, Timeout: mostTime})
	return err
}

// tokenTransport sends requests with a token that is asked for each time, and once more with another one when GitHub refuses it.
type tokenTransport struct {
	next  http.RoundTripper
	token func(ctx context.Context, refused string) (string, error)
}

// RoundTrip implements http.RoundTripper.
func (l *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := replay(req)
	if err != nil {
		return nil, err
	}
	token, err := l.token(req.Context(), "")
	if err != nil {
		return nil, fmt.Errorf("getting an installation token: %w", err)
	}
	resp, err := l.send(req, body, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	other, none := l.token(req.Context(), token)
	if none != nil || other == token {
		return resp, nil //nolint:nilerr // GitHub's own answer says more
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	_ = resp.Body.Close()
	return l.send(req, body, other)
}

func (l *tokenTransport) send(req *http.Request, body []byte, token string) (*http.Response, error) {
	again := req.Clone(req.Context())
	again.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		again.Body = io.NopCloser(bytes.NewReader(body))
	}
	return l.next.RoundTrip(again)
}
