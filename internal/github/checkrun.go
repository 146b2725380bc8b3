package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// CheckRun is what a run says on its commit at an end. It is never changed: of several of one name GitHub shows the
// newest.
type CheckRun struct {
	Name       string // "ralph"
	SHA        string // of the head
	ExternalID string // the run's own name for it: unlike that of any other check run on the commit
	URL        string // where the details are
	Conclusion string // GitHub's word: success, failure, neutral, cancelled, …
	Title      string // one line
	// Summary and Text are Markdown, made inert and redacted by the caller; each is cut to 65,535 bytes.
	Summary, Text string
	Annotations   []Annotation
}

// Annotation is a remark on lines of a file.
type Annotation struct {
	Path    string // from the top of the repository
	Line    int    // 1-based
	EndLine int    // the last line; 0: the same
	Level   string // notice, warning or failure; empty: failure
	Title   string // at most 255 characters are kept
	Message string // at most 64 KiB are kept; one without a message is left out
}

// What GitHub takes: annotations in one call, bytes of a summary and of a text, of an annotation, characters of a
// title, of a status.
const (
	annotationsInCall = 50
	mostOutput        = 65535
	mostMessage       = 60 << 10
	mostTitle         = 255
	mostDescription   = 140
)

// PutCheckRun makes the check run and returns its id; again says that an earlier process may have made it. A personal
// token may not write check runs: then a commit status says the same in one line. A job's token without checks: write
// is logged once; then, as after a status, the id is 0 and there is no error.
func (c *Client) PutCheckRun(ctx context.Context, run CheckRun, again bool) (id int64, err error) {
	if c.dry("write the check run %s on %s: %s, %s", run.Name, short(run.SHA), run.Conclusion, run.Title) {
		return 0, nil
	}
	if c.noChecks {
		return 0, c.status(ctx, run)
	}
	var rest []*github.CheckRunAnnotation // what the next calls add
	next := func() []*github.CheckRunAnnotation {
		some := rest[:min(annotationsInCall, len(rest))]
		rest = rest[len(some):]
		return some
	}
	doing := fmt.Sprintf("writing the check run %s on %s", run.Name, short(run.SHA))
	err = c.post(ctx, again, func() error {
		rest = annotations(run.Annotations)
		made, _, err := c.api.Checks.CreateCheckRun(ctx, c.o.Repo.Owner, c.o.Repo.Name, github.CreateCheckRunOptions{
			Name: run.Name, HeadSHA: run.SHA, DetailsURL: given(run.URL), ExternalID: given(run.ExternalID),
			Status: github.String("completed"), Conclusion: &run.Conclusion, Output: run.output(next()),
		})
		id = made.GetID()
		return err
	}, func() (found bool, err error) {
		id, err = c.findCheckRun(ctx, run)
		return id != 0, err
	})
	if ErrForbidden(err) {
		c.noChecks = true
		help := "add `checks: write` to the workflow's permissions"
		switch {
		case c.kind.personal():
			help = "only Apps may write check runs, so a commit status says it instead"
		case c.kind == AppToken:
			help = "grant the App the permission checks: write, and accept it for this installation"
		}
		c.logf("%v; %s", explain(doing, err), help)
		return 0, c.status(ctx, run)
	}
	for err == nil && len(rest) > 0 {
		_, _, err = c.api.Checks.UpdateCheckRun(ctx, c.o.Repo.Owner, c.o.Repo.Name, id,
			github.UpdateCheckRunOptions{Name: run.Name, Output: run.output(next())})
	}
	return id, explain(doing, err)
}

// findCheckRun finds the check run with the name and the external id on the commit; 0: none exists.
func (c *Client) findCheckRun(ctx context.Context, run CheckRun) (int64, error) {
	list, _, err := c.api.Checks.ListCheckRunsForRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, run.SHA,
		&github.ListCheckRunsOptions{
			CheckName: &run.Name, Filter: github.String("all"), ListOptions: github.ListOptions{PerPage: 100},
		})
	if err != nil {
		return 0, err
	}
	for _, one := range list.CheckRuns {
		if one.GetExternalID() == run.ExternalID {
			return one.GetID(), nil
		}
	}
	return 0, nil
}

func (run CheckRun) output(notes []*github.CheckRunAnnotation) *github.CheckRunOutput {
	title := run.Title
	if title == "" { // GitHub takes no output without one
		title = run.Name
	}
	return &github.CheckRunOutput{
		Title:   github.String(safetext.ShortenBytes(title, mostTitle)),
		Summary: github.String(safetext.ShortenBytes(run.Summary, mostOutput)),
		Text:    given(safetext.ShortenBytes(run.Text, mostOutput)), Annotations: notes,
	}
}

// annotations are those that GitHub takes, in its words.
func annotations(list []Annotation) []*github.CheckRunAnnotation {
	made := make([]*github.CheckRunAnnotation, 0, len(list))
	for _, a := range list {
		if a.Path == "" || a.Message == "" {
			continue
		}
		level := a.Level
		if level != "notice" && level != "warning" {
			level = "failure"
		}
		from := max(a.Line, 1)
		made = append(made, &github.CheckRunAnnotation{
			Path: &a.Path, StartLine: &from, EndLine: github.Int(max(a.EndLine, from)), AnnotationLevel: &level,
			Title:   given(safetext.ShortenBytes(a.Title, mostTitle)),
			Message: github.String(safetext.ShortenBytes(a.Message, mostMessage)),
		})
	}
	return made
}

// status says as a commit status what a check run would; if the token cannot do that either, a line in the log says it,
// and the run continues. Setting it twice is as setting it once: the last one of a name counts.
func (c *Client) status(ctx context.Context, run CheckRun) error {
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
	return explain(doing, err)
}

// statusOf is the state of a commit status that says what the conclusion of a check run does: one that is neutral does
// not block.
func statusOf(conclusion string) string {
	switch conclusion {
	case "success", "neutral", "skipped":
		return "success"
	case "failure":
		return "failure"
	}
	return "error"
}
