package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// appTransport carries the requests of an App's client, and keeps the installation tokens that GitHub answers with.
type appTransport struct {
	next http.RoundTripper

	mu     sync.Mutex
	tokens []string // at most two: an older one has expired
}

// RoundTrip implements http.RoundTripper.
func (m *appTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusCreated || !strings.HasSuffix(req.URL.Path, "/access_tokens") {
		return resp, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var answer struct{ Token string }
	if json.Unmarshal(text, &answer) == nil && answer.Token != "" {
		m.mu.Lock()
		m.tokens = append(m.tokens[max(0, len(m.tokens)-1):], answer.Token)
		m.mu.Unlock()
	}
	return resp, nil
}

func (m *appTransport) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	tokens := m.tokens
	m.tokens = nil
	return tokens
}

// revokeTime bounds a revocation: a job that was canceled has seconds left.
const revokeTime = 3 * time.Second

// Revoke shuts out the tokens that the client has made as an App, which would be good for the rest of their hour. A
// token that it was given is someone else's and stays. The client cannot be used afterwards.
func (c *Client) Revoke(ctx context.Context) error {
	if c.made == nil {
		return nil
	}
	var errs []error
	for _, token := range c.made.take() {
		errs = append(errs, revokeAt(ctx, c.o.root(), token))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("revoking the App's token, which expires by itself within the hour: %w", err)
	}
	return nil
}

// revokeAt shuts an installation token out; one that has expired is none.
func revokeAt(ctx context.Context, root, token string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, root+"/installation/token", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/vnd.github+json")
	resp, err := (&http.Client{CheckRedirect: stay}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusUnauthorized { // it has expired
		return fmt.Errorf("GitHub answered %s", resp.Status)
	}
	return nil
}
