package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Thread is a conversation on a line of a pull request that no one has resolved yet. Its text is what strangers wrote.
type Thread struct {
	First int64 // the id of its first comment, which Reply answers
	Path  string
	// in the file as the pull request leaves it, or as it was when the thread began; 0 when it is about the whole file
	Line     int
	Outdated bool // the line was changed since
	// Comments are oldest first, at most 100. Their UpdatedAt is after CreatedAt only when the text was edited.
	Comments []event.Comment
}

// mostThreadPages bounds the reading of a pull request's threads: 100 on a page.
const mostThreadPages = 5

const threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          isResolved isOutdated path line originalLine
          comments(first: 100) {
            nodes { databaseId body createdAt lastEditedAt author { __typename login } }
          }
        }
      }
    }
  }
}`

type threadNode struct {
	IsResolved, IsOutdated bool
	Path                   string
	Line, OriginalLine     *int
	Comments               struct {
		Nodes []struct {
			DatabaseID   int64 `json:"databaseId"`
			Body         string
			CreatedAt    time.Time
			LastEditedAt *time.Time
			Author       *struct {
				Type  string `json:"__typename"`
				Login string
			}
		}
	}
}

// Threads reads the conversations of a pull request that are not resolved, in GitHub's order, which is that of the
// diff. Outdated ones are among them: that a line was changed does not answer who asked for more. The REST API does not
// say what is resolved.
func (c *Client) Threads(ctx context.Context, pull int) ([]Thread, error) {
	doing := fmt.Sprintf("reading the review threads of #%d", pull)
	var found []Thread
	var after *string
	for range mostThreadPages {
		var data struct {
			Repository struct {
				PullRequest *struct {
					ReviewThreads struct {
						PageInfo struct {
							HasNextPage bool
							EndCursor   *string
						}
						Nodes []threadNode
					}
				}
			}
		}
		err := c.graphql(ctx, doing, threadsQuery,
			map[string]any{"owner": c.o.Repo.Owner, "name": c.o.Repo.Name, "number": pull, "after": after}, &data)
		if err != nil {
			return nil, err
		}
		if data.Repository.PullRequest == nil {
			return nil, fmt.Errorf("%s: GitHub does not find the pull request, or the token may not see it", doing)
		}
		page := data.Repository.PullRequest.ReviewThreads
		for _, n := range page.Nodes {
			if !n.IsResolved && len(n.Comments.Nodes) > 0 {
				found = append(found, n.thread())
			}
		}
		if !page.PageInfo.HasNextPage {
			break
		}
		after = page.PageInfo.EndCursor
	}
	return found, nil
}

// thread is in REST's words. A deleted account has no author.
func (n threadNode) thread() Thread {
	t := Thread{First: n.Comments.Nodes[0].DatabaseID, Path: n.Path, Outdated: n.IsOutdated}
	if line := cmp.Or(n.Line, n.OriginalLine); line != nil {
		t.Line = *line
	}
	for _, one := range n.Comments.Nodes {
		made := event.Comment{ID: one.DatabaseID, Body: one.Body, CreatedAt: one.CreatedAt, Inline: true,
			UpdatedAt: *cmp.Or(one.LastEditedAt, &one.CreatedAt)}
		if one.Author != nil {
			made.Author = graphQLActor(one.Author.Type, one.Author.Login)
		}
		t.Comments = append(t.Comments, made)
	}
	return t
}

// Reply answers in the thread that the comment to begins, and returns the reply's id. The body's first line, and again,
// are as those of Comment. go-github knows only an older way to say it.
func (c *Client) Reply(ctx context.Context, pull int, to int64, body string, again bool) (id int64, err error) {
	if c.dry("reply to review comment %d of #%d:\n%s", to, pull, body) {
		return 0, nil
	}
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/comments/%d/replies", c.o.Repo.Owner, c.o.Repo.Name, pull, to)
	err = c.post(ctx, again, func() error {
		req, err := c.api.NewRequest(http.MethodPost, path, map[string]string{"body": body})
		if err != nil {
			return err
		}
		posted := new(github.PullRequestComment)
		if _, err = c.api.Do(ctx, req, posted); err == nil {
			c.self, id = posted.GetUser().GetLogin(), posted.GetID()
		}
		return err
	}, func() (found bool, err error) {
		id, err = c.findReply(ctx, pull, to, safetext.FirstLine(body))
		return id != 0, err
	})
	return id, explain(fmt.Sprintf("replying to a review comment of #%d", pull), err)
}

// findReply finds ralph's own newest reply in the thread that the comment to begins, by its first line; 0: none exists.
// Only the 100 newest comments of the pull request are examined. Others may write the same line: only the author
// decides whose it is.
func (c *Client) findReply(ctx context.Context, pull int, to int64, line string) (int64, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return 0, err
	}
	list, _, err := c.api.PullRequests.ListComments(ctx, c.o.Repo.Owner, c.o.Repo.Name, pull,
		&github.PullRequestListCommentsOptions{
			Sort: "created", Direction: "desc", ListOptions: github.ListOptions{PerPage: 100},
		})
	if err != nil {
		return 0, explain(fmt.Sprintf("reading the review comments of #%d", pull), err)
	}
	for _, one := range list {
		if one.GetInReplyTo() == to && strings.EqualFold(one.GetUser().GetLogin(), self) &&
			safetext.FirstLine(one.GetBody()) == line {
			return one.GetID(), nil
		}
	}
	return 0, nil
}

// Wanting reads the reviews of a pull request that request changes, as far as each is its reviewer's latest verdict.
// Their text is hostile data.
func (c *Client) Wanting(ctx context.Context, pull int) ([]event.Review, error) {
	list, err := pages(fmt.Sprintf("reading the reviews of #%d", pull), explain,
		func(o *github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
			return c.api.PullRequests.ListReviews(ctx, c.o.Repo.Owner, c.o.Repo.Name, pull, o)
		})
	if err != nil {
		return nil, err
	}
	newest := map[string]event.Review{}
	var order []string
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
