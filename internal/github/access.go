package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Access is what someone may do on a repository. A greater one includes the lesser.
type Access int

// The kinds of access. None is also what is not known.
const (
	None Access = iota
	Read
	Write
)

// accessOf reads what an answer says of the person who asked.
func accessOf(has map[string]bool) Access {
	switch {
	case has["admin"], has["maintain"], has["push"]:
		return Write
	case has["triage"], has["pull"]:
		return Read
	}
	return None
}

// Repository is one that an installation, or a person, reaches.
type Repository struct {
	Repo    event.Repo
	Private bool
	Access  Access // of the person of the request; meaningless for an installation
}

// Repositories are those of an installation, at most 20,000.
func (a *App) Repositories(ctx context.Context, installation int64) ([]Repository, error) {
	api := a.as(installation)
	return pages(fmt.Sprintf("listing the repositories of the installation %d", installation), explain,
		func(o *github.ListOptions) ([]Repository, *github.Response, error) {
			list, resp, err := api.Apps.ListRepos(ctx, o)
			if err != nil {
				return nil, resp, err
			}
			return each(list.Repositories, repositoryOf), resp, nil
		})
}

func repositoryOf(r *github.Repository) Repository {
	return Repository{Repo: repo(r), Private: r.GetPrivate(), Access: accessOf(r.GetPermissions())}
}

// explainPerson is explain for calls with a person's token: one that has ended is ErrSignedOut.
func explainPerson(doing string, err error) error {
	if statusIs(err, http.StatusUnauthorized) {
		return fmt.Errorf("%s: %w", doing, ErrSignedOut)
	}
	return explain(doing, err)
}

// Person is the login of whose token this is.
func (a *App) Person(ctx context.Context, token string) (string, error) {
	const doing = "asking who signs in"
	api, err := a.asPerson(token)
	if err != nil {
		return "", err
	}
	user, _, err := api.Users.Get(ctx, "")
	if err != nil {
		return "", explainPerson(doing, err)
	}
	if user.GetLogin() == "" {
		return "", missingFieldError(doing, "who that is")
	}
	return user.GetLogin(), nil
}

// PersonRepository is a repository with what someone may do there, asked with their own token. A repository that they
// cannot see, or on which the App is not installed, has the access None without an error.
func (a *App) PersonRepository(ctx context.Context, token string, repo event.Repo) (Repository, error) {
	api, err := a.asPerson(token)
	if err != nil {
		return Repository{}, err
	}
	r, _, err := api.Repositories.Get(ctx, repo.Owner, repo.Name)
	switch {
	case ErrGone(err), ErrForbidden(err):
		return Repository{}, nil
	case err != nil:
		return Repository{}, explainPerson("asking for the permission of a user on "+repo.String(), err)
	}
	return repositoryOf(r), nil
}

// Collaborates reports whether someone was given access to a repository: as its owner, by a team, the organization or
// an invitation. Everyone reads a public repository; few collaborate on it.
func (a *App) Collaborates(ctx context.Context, repo event.Repo, login string) (bool, error) {
	at, err := a.InstallationOf(ctx, repo)
	if err != nil {
		return false, err
	}
	does, _, err := a.as(at.ID).Repositories.IsCollaborator(ctx, repo.Owner, repo.Name, login)
	return does, explain(fmt.Sprintf("asking whether %s works on %s", login, repo), err)
}

// ErrNoMembers is an App that cannot read who owns an organization.
var ErrNoMembers = errors.New("the App is not installed there with the permission members: read")

// MembersOf is the installation that lets the App read the owners of an organization. Its error is ErrNoMembers if the
// App has no such installation.
func (a *App) MembersOf(ctx context.Context, organization string) (installation int64, err error) {
	all, err := a.Installations(ctx)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(all, func(in AppInstallation) bool { return strings.EqualFold(in.Account, organization) })
	if at < 0 || all[at].Suspended || all[at].Permissions["members"] == "" {
		return 0, ErrNoMembers
	}
	return all[at].ID, nil
}

// Owns reports whether someone is an owner of an organization. Its errors include those of MembersOf.
func (a *App) Owns(ctx context.Context, organization, login string) (bool, error) {
	installation, err := a.MembersOf(ctx, organization)
	if err != nil {
		return false, err
	}
	token, err := a.make(ctx, installation, nil, Permissions{"members": "read"})
	if err != nil {
		return false, err
	}
	api, err := a.asPerson(token.Value)
	if err != nil {
		return false, err
	}
	m, _, err := api.Organizations.GetOrgMembership(ctx, login, organization)
	if ErrGone(err) {
		return false, nil
	}
	return m.GetRole() == "admin" && m.GetState() == "active",
		explain(fmt.Sprintf("asking whether %s owns %s", login, organization), err)
}

// PersonRepositories are the repositories of an installation that someone can read, each with what they may do there,
// at most 20,000. An installation that is not for them has none.
func (a *App) PersonRepositories(ctx context.Context, token string, installation int64) ([]Repository, error) {
	api, err := a.asPerson(token)
	if err != nil {
		return nil, err
	}
	doing := fmt.Sprintf("listing a user's repositories of the installation %d", installation)
	all, err := pages(doing, explainPerson, func(o *github.ListOptions) ([]Repository, *github.Response, error) {
		list, resp, err := api.Apps.ListUserRepos(ctx, installation, o)
		if err != nil {
			return nil, resp, err
		}
		return each(list.Repositories, repositoryOf), resp, nil
	})
	if ErrGone(err) || ErrForbidden(err) {
		return nil, nil
	}
	return all, err
}

// CommentAs comments on an issue or a pull request as someone who has signed in. GitHub says whether they may.
func (a *App) CommentAs(ctx context.Context, token string, repo event.Repo, number int, body string) error {
	api, err := a.asPerson(token)
	if err != nil {
		return err
	}
	_, _, err = api.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &github.IssueComment{Body: &body})
	return explainPerson(fmt.Sprintf("commenting on %s#%d", repo, number), err)
}

// RequestReview requests a review, of which GitHub notifies the person; it also works again after a review. GitHub
// refuses it of the author and of people who do not work on the repository.
func (c *Client) RequestReview(ctx context.Context, number int, login string) error {
	if c.dry("ask %s for a review of #%d", login, number) {
		return nil
	}
	_, _, err := c.api.PullRequests.RequestReviewers(ctx, c.o.Repo.Owner, c.o.Repo.Name, number,
		github.ReviewersRequest{Reviewers: []string{login}})
	return explain(fmt.Sprintf("asking %s for a review of #%d", login, number), err)
}
