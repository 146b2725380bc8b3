package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// React answers the event with a reaction: on its comment when it has one, also one on a line of a pull request, else
// on the issue.
func (c *Client) React(ctx context.Context, ev event.Event, content string) error {
	if ev.Issue == nil || c.dry("react with %s to %s", content, ev) {
		return nil
	}
	var err error
	owner, name := c.o.Repo.Owner, c.o.Repo.Name
	switch {
	case ev.Comment != nil && ev.Comment.Inline:
		_, _, err = c.api.Reactions.CreatePullRequestCommentReaction(ctx, owner, name, ev.Comment.ID, content)
	case ev.Comment != nil:
		_, _, err = c.api.Reactions.CreateIssueCommentReaction(ctx, owner, name, ev.Comment.ID, content)
	default:
		_, _, err = c.api.Reactions.CreateIssueReaction(ctx, owner, name, ev.Issue.Number, content)
	}
	return explain("reacting to "+ev.String(), err)
}

// Comment posts a comment and returns its id. The body's first line must be unlike any other comment's: when an answer
// is lost, it says whether the comment arrived; and so it does where an earlier process may have posted it, again.
func (c *Client) Comment(ctx context.Context, number int, body string, again bool) (int64, error) {
	if c.dry("comment on #%d:\n%s", number, body) {
		return 0, nil
	}
	var id int64
	err := c.post(ctx, again, func() error {
		posted, _, err := c.api.Issues.CreateComment(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, &github.IssueComment{Body: &body})
		if err == nil {
			c.self, id = posted.GetUser().GetLogin(), posted.GetID()
		}
		return err
	}, func() (found bool, err error) {
		id, err = c.FindComment(ctx, number, safetext.FirstLine(body))
		return id != 0, err
	})
	return id, explain(fmt.Sprintf("commenting on #%d", number), err)
}

// FindComment finds ralph's own newest comment on an issue that begins with the line; 0: none exists. Others may write
// the same line: only the author decides whose it is.
func (c *Client) FindComment(ctx context.Context, number int, line string) (int64, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return 0, err
	}
	all, err := c.Comments(ctx, number)
	if err != nil {
		return 0, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if strings.EqualFold(all[i].Author.Login, self) && safetext.FirstLine(all[i].Body) == line {
			return all[i].ID, nil
		}
	}
	return 0, nil
}

// EditComment replaces a comment's body.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	if c.dry("edit comment %d", id) {
		return nil
	}
	_, _, err := c.api.Issues.EditComment(ctx, c.o.Repo.Owner, c.o.Repo.Name, id, &github.IssueComment{Body: &body})
	return explain(fmt.Sprintf("editing comment %d", id), err)
}
