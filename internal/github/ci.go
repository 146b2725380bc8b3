package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// CIState is what all others together say of a commit.
type CIState string

// The states of a commit. What has failed decides, then what has not ended.
const (
	CINone    CIState = "none"    // no one says anything (yet)
	CIPending CIState = "pending" // something has not ended, or ended without a verdict
	CIPassed  CIState = "passed"
	CIFailed  CIState = "failed" // something has failed; more might still run
)

// CI is what other check runs and commit statuses say of a commit. All text in it is what strangers wrote.
type CI struct {
	State   CIState
	Failed  []Build
	Pending []string // names; of what ended without a verdict with the reason: "deploy (cancelled)"
}

// Build is one check run, or one commit status, that has failed.
type Build struct {
	Name       string
	Conclusion string // GitHub's word: failure, timed_out, startup_failure, error
	URL        string // the page
	Summary    string // what it says of itself, at most 4,000 bytes
	CheckRun   int64  // its id; 0 for a status
	JobID      int64  // of a job of GitHub Actions, whose log can be read; 0 for every other
}

// mostSummary is how much is read of what a check run says of itself, in bytes.
const mostSummary = 4000

// Builds reads what others say of a commit. Left out are check runs and statuses of one name ("ralph"), and those of the
// workflow run that ralph runs in, 0 for none: it does not wait for itself. How a conclusion counts:
//
//   - success, neutral and skipped have passed;
//   - failure, timed_out, startup_failure and a status's error have failed: a change can fix them;
//   - canceled, stale and action_required are no verdict, and no change fixes them. They are pending until someone runs them again or
//     approves them, so the run ends waiting and names them.
func (c *Client) Builds(ctx context.Context, sha, own string, run int64) (CI, error) {
	doing := "reading what CI says of " + short(sha)
	runs, err := pages(doing, explain, func(o *github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		list, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, sha,
			&github.ListCheckRunsOptions{Filter: github.String("latest"), ListOptions: *o})
		if err != nil {
			return nil, resp, err
		}
		return list.CheckRuns, resp, nil
	})
	if err != nil {
		return CI{}, err
	}
	var statuses []*github.RepoStatus // the latest of each name, at most 100
	combined, _, err := c.api.Repositories.GetCombinedStatus(ctx, c.o.Repo.Owner, c.o.Repo.Name, sha, &github.ListOptions{PerPage: 100})
	if err == nil {
		statuses = combined.Statuses
	}
	if err != nil && !ErrForbidden(err) { // statuses: read is a permission of its own; without it, only check runs count
		return CI{}, explain(doing, err)
	}
	return judge(runs, statuses, own, run), nil
}

// verdicts are what words of check runs and statuses come to; all others are pending.
var verdicts = map[string]CIState{"success": CIPassed, "neutral": CIPassed, "skipped": CIPassed,
	"failure": CIFailed, "timed_out": CIFailed, "startup_failure": CIFailed, "error": CIFailed}

// judge adds up what is said.
func judge(runs []*github.CheckRun, statuses []*github.RepoStatus, own string, run int64) CI {
	ci, job := CI{State: CINone}, fmt.Sprintf("/actions/runs/%d/", run)
	count := func(b Build, addresses ...string) {
		switch verdict := verdicts[b.Conclusion]; {
		case b.Name == own, slices.ContainsFunc(addresses, func(at string) bool { return strings.Contains(at+"/", job) }):
		case verdict == CIFailed:
			ci.Failed, ci.State = append(ci.Failed, b), CIFailed
		case verdict == CIPassed:
			if ci.State == CINone {
				ci.State = CIPassed
			}
		default:
			if b.CheckRun != 0 && b.Conclusion != "" {
				b.Name += " (" + b.Conclusion + ")"
			}
			if ci.Pending = append(ci.Pending, b.Name); ci.State != CIFailed {
				ci.State = CIPending
			}
		}
	}
	for _, r := range runs {
		count(buildOf(r), r.GetDetailsURL(), r.GetHTMLURL())
	}
	for _, s := range statuses {
		count(Build{Name: s.GetContext(), Conclusion: s.GetState(), URL: s.GetTargetURL(),
			Summary: safetext.ShortenBytes(s.GetDescription(), mostSummary)}, s.GetTargetURL())
	}
	return ci
}

func buildOf(r *github.CheckRun) Build {
	b := Build{
		Name: r.GetName(), Conclusion: r.GetConclusion(), URL: cmp.Or(r.GetHTMLURL(), r.GetDetailsURL()), CheckRun: r.GetID(),
		Summary: safetext.ShortenBytes(strings.TrimSpace(r.GetOutput().GetTitle()+"\n\n"+r.GetOutput().GetSummary()),
			mostSummary),
	}
	if r.GetApp().GetSlug() == "github-actions" { // a job's id is that of its check run
		b.JobID = r.GetID()
	}
	return b
}
