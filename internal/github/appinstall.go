package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// AppInstallation is the App in one account.
type AppInstallation struct {
	ID           int64
	Account      string // the login of a person or an organization
	Organisation bool
	All          bool   // every repository of the account; false: those that were chosen
	Page         string // where whoever owns the account changes it
	Suspended    bool   // someone has stopped it: GitHub gives no token
	Permissions  Permissions
	Events       []string
}

// ErrNotInstalled is an App that is not installed on a repository, as far as GitHub tells.
var ErrNotInstalled = errors.New("the App is not installed on it")

// mostPages bounds every list: of 100 a page.
const mostPages = 200

// Installations are all of the App's, at most 20,000.
func (a *App) Installations(ctx context.Context) ([]AppInstallation, error) {
	return pages("listing the App's installations", a.explain,
		func(o *github.ListOptions) ([]AppInstallation, *github.Response, error) {
			list, resp, err := a.api.Apps.ListInstallations(ctx, o)
			return each(list, installationOf), resp, err
		})
}

// InstallationOf is the installation that a repository belongs to; its error is ErrNotInstalled where there is none.
func (a *App) InstallationOf(ctx context.Context, repo event.Repo) (AppInstallation, error) {
	in, _, err := a.api.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	doing := fmt.Sprintf("finding the App's installation on %s", oneLine(repo.String()))
	switch {
	case statusIs(err, http.StatusNotFound):
		return AppInstallation{}, fmt.Errorf("%s: %w; install it, or add the repository to its installation", doing,
			ErrNotInstalled)
	case err != nil:
		return AppInstallation{}, a.explain(doing, err)
	}
	return installationOf(in), nil
}

// Installation is one by its id, as webhooks name it.
func (a *App) Installation(ctx context.Context, id int64) (AppInstallation, error) {
	in, _, err := a.api.Apps.GetInstallation(ctx, id)
	doing := fmt.Sprintf("reading the App's installation %d", id)
	switch {
	case statusIs(err, http.StatusNotFound):
		return AppInstallation{}, fmt.Errorf("%s: %w; it was removed", doing, ErrNotInstalled)
	case err != nil:
		return AppInstallation{}, a.explain(doing, err)
	}
	return installationOf(in), nil
}

func installationOf(in *github.Installation) AppInstallation {
	return AppInstallation{
		ID: in.GetID(), Account: in.GetAccount().GetLogin(),
		Organisation: in.GetTargetType() == "Organization", All: in.GetRepositorySelection() == "all",
		Page: in.GetHTMLURL(), Suspended: in.SuspendedAt != nil, Permissions: permissionsOf(in.Permissions),
		Events: in.Events,
	}
}

// pages reads all pages of a list.
func pages[T any](doing string, explain func(string, error) error,
	read func(*github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	opts := &github.ListOptions{PerPage: 100}
	var all []T
	for range mostPages {
		list, resp, err := read(opts)
		if err != nil {
			return nil, explain(doing, err)
		}
		all = append(all, list...)
		if resp.NextPage == 0 {
			return all, nil
		}
		opts.Page = resp.NextPage
	}
	return nil, fmt.Errorf("%s: there are more than %d", doing, mostPages*opts.PerPage)
}

func each[F, T any](from []*F, to func(*F) T) []T {
	all := make([]T, 0, len(from))
	for _, f := range from {
		all = append(all, to(f))
	}
	return all
}

// Grant says what an installation has not been granted, and who can change that where.
type Grant struct {
	Lacks   []string // "checks: write"; empty: nothing
	Problem string   // one sentence; empty when nothing lacks and it is not suspended
	Advice  string   // what to do, one sentence
	Pages   []string // the addresses that Advice names
}

// Grants holds an installation against what ralph needs there. self is the App as GitHub knows it.
func Grants(self Self, in AppInstallation, need Permissions) Grant {
	g := Grant{Lacks: need.Lacks(in.Permissions)}
	switch {
	case in.Suspended:
		g.Problem = "The App's installation on " + oneLine(in.Account) + " is suspended."
		g.Advice, g.Pages = "Unsuspend it at "+in.Page+".", []string{in.Page}
		return g
	case len(g.Lacks) == 0:
		return g
	}
	g.Problem = "The App's installation on " + oneLine(in.Account) + " has not been granted " + strings.Join(g.Lacks, ", ") +
		"."
	if missing := need.Lacks(self.Permissions); len(missing) > 0 {
		page := self.Settings + "/permissions"
		g.Pages = []string{page, in.Page}
		g.Advice = "Give the App " + strings.Join(missing, ", ") + " at " + page + ", then accept it for " +
			oneLine(in.Account) + " at " + in.Page + "."
		return g
	}
	g.Pages = []string{in.Page}
	g.Advice = "The App asks for it already: an owner of " + oneLine(in.Account) + " accepts it at " + in.Page + "."
	return g
}
