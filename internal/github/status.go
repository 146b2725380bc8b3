package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// given is nil for what is not given.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func short(sha string) string { return sha[:min(7, len(sha))] }

// putStatus says as a commit status what a check run would; a token that may not do that either is told so in the log,
// and the run continues. Setting it twice is as setting it once: the last one of a name counts.
func (c *Client) putStatus(ctx context.Context, run CheckRun) error {
	if !c.kind.personal() && c.kind != UnknownToken || c.noStatus {
		return nil
	}
	doing := fmt.Sprintf("setting the status %s of %s", run.Name, short(run.SHA))
	_, _, err := c.api.Repositories.CreateStatus(ctx, c.o.Repo.Owner, c.o.Repo.Name, run.SHA, &github.RepoStatus{
		State: github.String(statusOf(run.Conclusion)), TargetURL: given(run.URL), Context: &run.Name,
		Description: given(safetext.ShortenBytes(oneLine(run.Title), mostDescription)),
	})
	if ErrForbidden(err) || ErrGone(err) { // a classic token without the scope is answered with 404
		c.noStatus = true
		c.logf("%v; the commit does not show what ralph says of it", explain(doing, err))
		return nil
	}
	return explainAny(doing, err)
}

// statusOf is the state of a commit status that says what the conclusion of a check run does: one that is neutral does
// not block.
func statusOf(conclusion string) string {
	switch conclusion {
	case "":
		return "pending"
	case "success", "neutral", "skipped":
		return "success"
	case "failure":
		return "failure"
	}
	return "error"
}

// logf writes one line to the log.
func (c *Client) logf(format string, args ...any) {
	if c.o.Log != nil {
		c.o.Log(format, args...)
	}
}

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
