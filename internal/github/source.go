package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// useSource makes the client write with whatever token the source has at the moment of a call.
func (c *Client) useSource(base http.RoundTripper) (err error) {
	c.kind, c.token = InstallationToken, c.o.TokenSource
	if c.o.Login != "" {
		c.app, c.kind, c.self = true, AppToken, c.o.Login
	}
	c.api, err = c.dial(&http.Client{Transport: &sourced{base, c.o.TokenSource}, Timeout: mostTime})
	return err
}

// sourced carries requests, each with the token that there is now.
type sourced struct {
	next  http.RoundTripper
	token func(context.Context) (string, error)
}

// errNoToken is an answer of a source that cannot be a credential.
var errNoToken = errors.New("it is empty")

// RoundTrip implements http.RoundTripper.
func (s *sourced) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := s.token(req.Context())
	if err == nil && token == "" {
		err = errNoToken
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as every RoundTripper must
		}
		return nil, fmt.Errorf("getting a token: %w", err)
	}
	again := req.Clone(req.Context())
	again.Header.Set("Authorization", "Bearer "+token)
	return s.next.RoundTrip(again)
}
