package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"
)

// MakeLabel makes a label of the repository; one of this name that is there stays as it is. The color is six
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
	return explainAny("making the label "+oneLine(name), err)
}

// Labels lists the names of the repository's labels, at most 1,000.
func (c *Client) Labels(ctx context.Context) ([]string, error) {
	opts := &github.ListOptions{PerPage: 100}
	var names []string
	for range 10 {
		list, resp, err := c.api.Issues.ListLabels(ctx, c.o.Repo.Owner, c.o.Repo.Name, opts)
		if err != nil {
			return nil, explain(fmt.Sprintf("reading the labels of %s", c.o.Repo), err)
		}
		for _, l := range list {
			names = append(names, l.GetName())
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return names, nil
}

// refused reports whether GitHub understood and said no (422).
func refused(err error) bool { return statusIs(err, http.StatusUnprocessableEntity) }

func statusIs(err error, status int) bool {
	var api *github.ErrorResponse
	return errors.As(err, &api) && api.Response != nil && api.Response.StatusCode == status
}
