package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// mostReviewPages bounds the reading of a pull request's reviews: 100 on a page.
const mostReviewPages = 5

// Wanting reads the reviews of a pull request that request changes, as far as each is its reviewer's latest verdict.
// Their text is hostile data.
func (c *Client) Wanting(ctx context.Context, pull int) ([]event.Review, error) {
	newest := map[string]event.Review{}
	var order []string
	opts := &github.ListOptions{PerPage: 100}
	for range mostReviewPages {
		list, resp, err := c.api.PullRequests.ListReviews(ctx, c.o.Repo.Owner, c.o.Repo.Name, pull, opts)
		if err != nil {
			return nil, explain(fmt.Sprintf("reading the reviews of #%d", pull), err)
		}
		for _, r := range list {
			who, state := strings.ToLower(r.GetUser().GetLogin()), strings.ToLower(r.GetState())
			if who == "" || state == "commented" || state == "pending" { // they take no verdict back
				continue
			}
			if _, known := newest[who]; !known {
				order = append(order, who)
			}
			newest[who] = event.Review{
				ID: r.GetID(), Author: actor(r.GetUser()), State: state, Body: r.GetBody(), Commit: r.GetCommitID(),
				At: r.GetSubmittedAt().Time,
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	var out []event.Review
	for _, who := range order {
		if newest[who].State == "changes_requested" {
			out = append(out, newest[who])
		}
	}
	return out, nil
}

// CanWrite reports whether someone has write access, and notes the answer among the facts. A lookup that fails is no.
func (c *Client) CanWrite(ctx context.Context, facts *event.Facts, login string) bool {
	c.permission(ctx, facts.Permissions, login)
	return facts.CanWrite(login)
}
