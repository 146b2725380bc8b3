package github

import (
	"context"
	"fmt"

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
// and the run goes on. Setting it twice is as setting it once: the last one of a name counts.
func (c *Client) putStatus(ctx context.Context, run CheckRun) error {
	if !c.kind.personal() && c.kind != UnknownToken || c.noStatus {
		return nil
	}
	doing := fmt.Sprintf("setting the status %s of %s", run.Name, short(run.SHA))
	_, _, err := c.api.Repositories.CreateStatus(ctx, c.o.Repo.Owner, c.o.Repo.Name, run.SHA, &github.RepoStatus{
		State: github.String(statusOf(run.Conclusion)), TargetURL: given(run.URL), Context: &run.Name,
		Description: given(safetext.ShortenBytes(oneLine(run.Title), mostDescription)),
	})
	if forbidden(err) || ErrGone(err) { // a classic token without the scope is answered with 404
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
