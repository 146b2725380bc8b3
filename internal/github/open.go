package github

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/event"
)

// New makes a client. It calls GitHub only for an App, to find its installation and to make its first token.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.As != nil || o.AppID == 0 {
		return newClient(o)
	}
	key, err := ReadKey(string(o.AppKey))
	if err != nil {
		return nil, fmt.Errorf("input app_private_key: %w", err)
	}
	a, err := OpenApp(AppOptions{Server: o.Server, ID: o.AppID, Key: key})
	if err != nil {
		return nil, err
	}
	in, err := a.InstallationOf(ctx, o.Repo)
	if err != nil {
		return nil, err
	}
	login, err := a.Login(ctx)
	if err != nil {
		return nil, err
	}
	source := a.source(func(ctx context.Context) (Token, error) {
		return a.Token(ctx, in.ID, o.Repo.Name, Needed(o.AllowWorkflows, false))
	})
	first, err := source.Current(ctx)
	if err != nil {
		return nil, err
	}
	o.As = &Installation{Login: login, Lacks: first.Lacks, Token: source.Token, Patience: o.Patience}
	c, err := newClient(o)
	if c != nil {
		c.made = source
	}
	return c, err
}

// Revoke shuts out the tokens that New has made, which would be valid for the rest of their hour. A token that it was given
// is someone else's and stays. The client cannot be used afterwards.
func (c *Client) Revoke(ctx context.Context) error {
	if c.made == nil {
		return nil
	}
	return c.made.Revoke(ctx)
}

// In is a client for a repository of an installation, to read and to react.
func (a *App) In(installation int64, repo event.Repo) *Client {
	return &Client{o: Options{Server: a.o.Server, Repo: repo}, api: a.as(installation), kind: AppToken}
}
