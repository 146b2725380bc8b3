package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"
)

// useApp makes the client write as an App, with tokens that are for the one repository and for what ralph does there
// alone. They are renewed a minute before they expire, however long a run is.
func (c *Client) useApp(ctx context.Context, base http.RoundTripper) error {
	c.made = &appTransport{next: base}
	apps, err := ghinstallation.NewAppsTransport(c.made, c.o.AppID, c.o.AppKey)
	if err != nil {
		return fmt.Errorf("reading the input app_private_key: %w; paste the whole PEM file of the App's key", err)
	}
	apps.BaseURL = c.o.root()
	asApp, err := c.dial(&http.Client{Transport: apps, Timeout: mostTime})
	if err != nil {
		return err
	}
	installation, _, err := asApp.Apps.FindRepositoryInstallation(ctx, c.o.Repo.Owner, c.o.Repo.Name)
	if err != nil {
		if ErrGone(err) {
			return &failed{fmt.Sprintf("finding the App %d's installation on %s: it is not installed there; install the App "+
				"on this repository", c.o.AppID, c.o.Repo), err}
		}
		return explain(fmt.Sprintf("finding the App %d's installation on %s", c.o.AppID, c.o.Repo), err)
	}
	tr := ghinstallation.NewFromAppsTransport(apps, installation.GetID())
	tr.InstallationTokenOptions = &github.InstallationTokenOptions{Repositories: []string{c.o.Repo.Name},
		Permissions: c.o.wanted().shape()}
	c.app, c.kind, c.self = true, AppToken, installation.GetAppSlug()+"[bot]"
	c.token = tr.Token
	if c.api, err = c.dial(&http.Client{Transport: tr, Timeout: mostTime}); err != nil {
		return err
	}
	return c.firstToken(ctx, tr, installation.GetPermissions())
}

// firstToken gets the first token. When the installation has not granted all that ralph asks for, which GitHub answers with
// 422, it asks for what was granted and notes the rest.
func (c *Client) firstToken(ctx context.Context, tr *ghinstallation.Transport,
	granted *github.InstallationPermissions) error {
	const doing = "getting an installation token"
	_, err := tr.Token(ctx)
	var refused *ghinstallation.HTTPError
	if err == nil || !errors.As(err, &refused) || refused.Response == nil ||
		refused.Response.StatusCode != http.StatusUnprocessableEntity || granted == nil {
		return explainAny(doing, err)
	}
	has := permissionsOf(granted)
	tr.InstallationTokenOptions.Permissions, c.lacks = c.o.wanted().within(has).shape(), c.o.wanted().Lacks(has)
	_, err = tr.Token(ctx)
	return explainAny(doing, err)
}

func explainAny(doing string, err error) error {
	if err == nil {
		return nil
	}
	return explain(doing, err)
}

// wanted is what the client does with an App's token. Workflow files can be pushed only when the settings say so.
func (o Options) wanted() Permissions { return Needed(o.AllowWorkflows, false) }
