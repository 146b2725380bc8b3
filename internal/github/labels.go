package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"
)

// The labels that show where a run stands, behind the trigger label and a colon.
var StatusLabels = []string{LabelRunning, LabelReview, LabelWaiting, LabelFailed}

const (
	LabelRunning = "running"
	LabelReview  = "review"
	LabelWaiting = "waiting"
	LabelFailed  = "failed"
)

// MakeLabel makes a label of the repository; one of this name that exists stays as it is. The color is six
// hexadecimal digits.
func (c *Client) MakeLabel(ctx context.Context, name, color, description string) error {
	if c.dry("make the label %s", name) {
		return nil
	}
	_, _, err := c.api.Issues.CreateLabel(ctx, c.o.Repo.Owner, c.o.Repo.Name,
		&github.Label{Name: &name, Color: &color, Description: given(description)})
	if refused(err) && strings.Contains(err.Error(), "already_exists") {
		return nil
	}
	return explain("making the label "+oneLine(name), err)
}

// Labels lists the names of the repository's labels, at most 20,000.
func (c *Client) Labels(ctx context.Context) ([]string, error) {
	return pages(fmt.Sprintf("reading the labels of %s", c.o.Repo), explain,
		func(o *github.ListOptions) ([]string, *github.Response, error) {
			list, resp, err := c.api.Issues.ListLabels(ctx, c.o.Repo.Owner, c.o.Repo.Name, o)
			return each(list, (*github.Label).GetName), resp, err
		})
}

// AddLabel puts a label on; GitHub makes it when the repository does not have it. On are all that the issue then has;
// nil in a dry run.
func (c *Client) AddLabel(ctx context.Context, number int, label string) ([]string, error) {
	if c.dry("put %s on #%d", label, number) {
		return nil, nil
	}
	list, _, err := c.api.Issues.AddLabelsToIssue(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, []string{label})
	return each(list, (*github.Label).GetName), explain(fmt.Sprintf("putting the label %s on #%d", label, number), err)
}

// RemoveLabel takes a label off; one that does not exist is fine.
func (c *Client) RemoveLabel(ctx context.Context, number int, label string) error {
	if c.dry("take %s off #%d", label, number) {
		return nil
	}
	_, err := c.api.Issues.RemoveLabelForIssue(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, label)
	if ErrGone(err) {
		return nil
	}
	return explain(fmt.Sprintf("taking the label %s off #%d", label, number), err)
}
