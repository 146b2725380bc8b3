package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// useTokensOf makes the client write as an App whose tokens somebody else makes and revokes.
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
