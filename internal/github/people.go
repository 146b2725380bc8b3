package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"
)

// Assign gives a pull request or an issue to somebody, which tells them. Whoever it cannot be given to, GitHub leaves
// out without a word.
func (c *Client) Assign(ctx context.Context, number int, login string) error {
	if c.dry("assign #%d to %s", number, login) {
		return nil
	}
	_, _, err := c.api.Issues.AddAssignees(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, []string{login})
	return explainAny(fmt.Sprintf("assigning #%d to %s", number, login), err)
}

// RequestReview asks somebody for a review, which tells them; again when they have reviewed meanwhile. GitHub refuses
// it of the author and of people who do not work on the repository.
func (c *Client) RequestReview(ctx context.Context, number int, login string) error {
	if c.dry("ask %s for a review of #%d", login, number) {
		return nil
	}
	_, _, err := c.api.PullRequests.RequestReviewers(ctx, c.o.Repo.Owner, c.o.Repo.Name, number,
		github.ReviewersRequest{Reviewers: []string{login}})
	return explainAny(fmt.Sprintf("asking %s for a review of #%d", login, number), err)
}

// ErrRefused is a write that GitHub understood and did not want, or that the token may not make: it would say the same
// tomorrow.
func ErrRefused(err error) bool {
	return statusIs(err, 403) || statusIs(err, 404) || statusIs(err, 410) || statusIs(err, 422)
}
