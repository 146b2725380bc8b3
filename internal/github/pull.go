package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// ReadyPull takes a pull request out of draft; only GraphQL can.
func (c *Client) ReadyPull(ctx context.Context, nodeID string) error {
	const mutation = `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	if c.dry("mark the pull request ready for review") {
		return nil
	}
	return c.graphql(ctx, "marking the pull request ready for review", mutation, map[string]any{"id": nodeID}, nil)
}

// FinishPull replaces a pull request's title, unless it is "", and body and takes it out of draft, in one call, and
// reports whether it is closed.
func (c *Client) FinishPull(ctx context.Context, nodeID, title, body string) (closed bool, err error) {
	const mutation = `mutation($id: ID!, $title: String, $body: String!) {
  updatePullRequest(input: {pullRequestId: $id, title: $title, body: $body}) { pullRequest { closed } }
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}`
	if c.dry("edit the pull request and mark it ready for review") {
		return false, nil
	}
	var data struct {
		Updated struct {
			Pull struct {
				Closed bool `json:"closed"`
			} `json:"pullRequest"`
		} `json:"updatePullRequest"`
	}
	values := map[string]any{"id": nodeID, "body": body}
	if title != "" {
		values["title"] = title
	}
	err = c.graphql(ctx, "marking the pull request ready for review", mutation, values, &data)
	return data.Updated.Pull.Closed, err
}

// PullRequest is what a pull request says.
type PullRequest struct {
	Title, Body string
	Head, Base  string // branches
	Draft       bool
}

// OpenPull opens a pull request, or adopts the one that the branch already has.
func (c *Client) OpenPull(ctx context.Context, p PullRequest) (*event.Pull, error) {
	if c.dry("open the pull request %q from %s to %s:\n%s", p.Title, p.Head, p.Base, p.Body) {
		return &event.Pull{Draft: p.Draft}, nil
	}
	var made, found *event.Pull
	adopt := func() (_ bool, err error) {
		found, err = c.FindPull(ctx, p.Head)
		return found != nil, err
	}
	create := func() error {
		opened, _, err := c.api.PullRequests.Create(ctx, c.o.Repo.Owner, c.o.Repo.Name, &github.NewPullRequest{
			Title: &p.Title, Body: &p.Body, Head: &p.Head, Base: &p.Base, Draft: &p.Draft, MaintainerCanModify: github.Bool(true),
		})
		made = pull(opened)
		return err
	}
	err := c.post(ctx, false, func() error {
		err := create()
		if err != nil && p.Draft && strings.Contains(strings.ToLower(err.Error()), "draft pull requests are not supported") {
			p.Draft = false // private repositories on some plans have no drafts
			err = create()
		}
		if err != nil && (refused(err) || forbidsPulls(err)) { // someone might have opened it by hand
			if there, _ := adopt(); there {
				return nil
			}
		}
		return err
	}, adopt)
	switch {
	case err != nil && forbidsPulls(err):
		return nil, fmt.Errorf("GitHub does not let workflows open pull requests here: switch on “Allow GitHub Actions to "+
			"create and approve pull requests” under Settings → Actions → General → Workflow permissions, or open the pull "+
			"request of %s by hand", p.Head)
	case err != nil:
		return nil, explain("opening the pull request of "+p.Head, err)
	case found != nil:
		_, _, err = c.EditPull(ctx, found.Number, p.Title, p.Body)
		return found, err
	}
	return made, nil
}

// forbidsPulls reports whether a setting of the repository or its organization keeps workflows from opening pull
// requests, which is how new repositories begin.
func forbidsPulls(err error) bool {
	return strings.Contains(err.Error(), "not permitted to create or approve pull requests")
}

// EditPull replaces a pull request's title, unless it is "", and body, and reports whether it is closed, and a draft.
func (c *Client) EditPull(ctx context.Context, number int, title, body string) (closed, draft bool, err error) {
	if c.dry("edit pull request #%d", number) {
		return false, false, nil
	}
	edit := &github.PullRequest{Body: &body}
	if title != "" {
		edit.Title = &title
	}
	edited, _, err := c.api.PullRequests.Edit(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, edit)
	return edited.GetState() == "closed", edited.GetDraft(), explain(fmt.Sprintf("editing pull request #%d", number), err)
}

// PullClosed reports whether a pull request is closed, and whether it was merged.
func (c *Client) PullClosed(ctx context.Context, number int) (closed, merged bool, err error) {
	p, err := c.readPull(ctx, number)
	return p.GetState() == "closed", p.GetMerged(), err
}

func (c *Client) readPull(ctx context.Context, number int) (*github.PullRequest, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.o.Repo.Owner, c.o.Repo.Name, number)
	return p, explain(fmt.Sprintf("reading pull request #%d", number), err)
}

// FindPull finds the open pull request of a branch of this repository; nil: none exists.
func (c *Client) FindPull(ctx context.Context, branch string) (*event.Pull, error) {
	list, _, err := c.api.PullRequests.List(ctx, c.o.Repo.Owner, c.o.Repo.Name, &github.PullRequestListOptions{
		State: "open", Head: c.o.Repo.Owner + ":" + branch,
	})
	if err != nil {
		return nil, explain("looking for the pull request of "+branch, err)
	}
	for _, p := range list {
		if p.GetHead().GetRef() == branch { // servers that do not know the filter answer with every pull request
			return pull(p), nil
		}
	}
	return nil, nil
}

func pull(p *github.PullRequest) *event.Pull {
	return &event.Pull{Number: p.GetNumber(), NodeID: p.GetNodeID(), URL: p.GetHTMLURL(), Draft: p.GetDraft()}
}
