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
	a, err := OpenApp(AppOptions{Server: Server{APIURL: o.APIURL, Log: o.Log, Sleep: o.Sleep, Timeout: o.Timeout}, ID: o.AppID, Key: key})
	if err != nil {
		return nil, err
	}
	in, err := a.InstallationOf(ctx, o.Repo)
	if err != nil {
		return nil, err
	}
	source := a.Source(in.ID, o.Repo.Name, Needed(o.AllowWorkflows, false))
	if o.As, err = a.writer(ctx, source); err != nil {
		return nil, err
	}
	o.As.Patience = o.Patience
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

// writer is the App as a client writes by it, with the source's tokens. It makes the first of them.
func (a *App) writer(ctx context.Context, source *Source) (*Installation, error) {
	login, err := a.Login(ctx)
	if err != nil {
		return nil, err
	}
	first, err := source.Current(ctx)
	return &Installation{Login: login, Lacks: first.Lacks, Token: source.Token}, err
}

// Client is a client for one repository of an installation with the permissions want. The caller revokes the source when the
// client is no longer used.
func (a *App) Client(ctx context.Context, installation int64, repo event.Repo, want Permissions) (*Client, *Source, error) {
	source := a.Source(installation, repo.Name, want)
	as, err := a.writer(ctx, source)
	if err != nil {
		return nil, nil, err
	}
	c, err := newClient(Options{APIURL: a.o.APIURL, Repo: repo, Log: a.o.Log, Sleep: a.o.Sleep, Timeout: a.o.Timeout, As: as})
	return c, source, err
}
