package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// CheckRun is what a run says on its commit.
type CheckRun struct {
	ID         int64  // of one that exists and is changed; 0 makes one
	Name       string // "ralph"
	SHA        string // of the head
	ExternalID string // the run's own name for it: unlike that of any other check run on the commit
	URL        string // where the details are
	// Conclusion is GitHub's word: success, failure, neutral, canceled, skipped, timed_out, action_required; empty while
	// it continues.
	Conclusion string
	Title      string // one line
	// Summary and Text are Markdown, made inert and redacted by the caller; each is cut to 65,535 bytes.
	Summary, Text string
	// Annotations are in an order that stays: after a crash it continues behind those that have arrived.
	Annotations []Annotation
	// Find looks first whether the commit has one with this name and external id, and changes it: after a crash.
	Find bool
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

// PutCheckRun writes the check run and returns its id. A personal token may not write check runs: then a commit status
// says the same in one line. A job's token without checks: write is told once, in the log; then, as after a status, the
// id is 0 and there is no error.
func (c *Client) PutCheckRun(ctx context.Context, run CheckRun) (int64, error) {
	doing := fmt.Sprintf("writing the check run %s on %s", run.Name, short(run.SHA))
	if c.dry("write the check run %s on %s: %s, %s", run.Name, short(run.SHA), run.Conclusion, run.Title) {
		return run.ID, nil
	}
	if c.noChecks {
		return 0, c.putStatus(ctx, run)
	}
	notes := annotations(run.Annotations)
	id, arrived, err := c.beginCheckRun(ctx, run, notes)
	if ErrForbidden(err) {
		c.noChecks = true
		c.logf("%v; %s", explain(doing, err), c.withoutChecks())
		return 0, c.putStatus(ctx, run)
	}
	if err != nil {
		return 0, explain(doing, err)
	}
	for arrived < len(notes) {
		more := notes[arrived:min(arrived+annotationsInCall, len(notes))]
		if arrived, err = c.changeCheckRun(ctx, id, run, more, arrived); err != nil {
			return id, explain(doing, err)
		}
	}
	return id, nil
}

// withoutChecks says what follows when check runs cannot be written.
func (c *Client) withoutChecks() string {
	switch {
	case c.kind.personal():
		return "only Apps may write check runs, so a commit status says it instead"
	case c.app:
		return "grant the App the permission checks: write, and accept it for this installation"
	}
	return "add `checks: write` to the workflow's permissions"
}

// beginCheckRun makes the check run, or changes the one that exists, and says how many annotations it has then.
func (c *Client) beginCheckRun(ctx context.Context, run CheckRun, notes []*github.CheckRunAnnotation) (id int64,
	arrived int, err error) {
	id = run.ID
	if id == 0 && run.Find {
		if id, arrived, err = c.findCheckRun(ctx, run); err != nil {
			return 0, 0, err
		}
	}
	first := notes[min(arrived, len(notes)):]
	first = first[:min(annotationsInCall, len(first))]
	if id != 0 {
		arrived, err = c.changeCheckRun(ctx, id, run, first, arrived)
		return id, arrived, err
	}
	for try := 1; ; try++ {
		status, conclusion := run.state()
		made, _, err := c.api.Checks.CreateCheckRun(ctx, c.o.Repo.Owner, c.o.Repo.Name, github.CreateCheckRunOptions{
			Name: run.Name, HeadSHA: run.SHA, DetailsURL: given(run.URL), ExternalID: given(run.ExternalID), Status: status,
			Conclusion: conclusion,
			Output:     run.output(first),
		})
		if err == nil {
			return made.GetID(), len(first), nil
		}
		if !ErrAway(err) || try == maxTries {
			return 0, 0, err
		}
		if err := c.o.Sleep(ctx, backoff(try)); err != nil {
			return 0, 0, err
		}
		id, arrived, ferr := c.findCheckRun(ctx, run)
		if id != 0 {
			return id, arrived, nil
		}
		if ferr != nil { // it may be there: better none than two
			return 0, 0, err
		}
	}
}

// changeCheckRun changes what a check run says and adds annotations behind the first of them that exist. GitHub
// adds, it does not replace: when an answer is lost, it is asked how many there are before it is tried again.
func (c *Client) changeCheckRun(ctx context.Context, id int64, run CheckRun, add []*github.CheckRunAnnotation,
	there int) (int, error) {
	for try := 1; ; try++ {
		status, conclusion := run.state()
		_, _, err := c.api.Checks.UpdateCheckRun(ctx, c.o.Repo.Owner, c.o.Repo.Name, id, github.UpdateCheckRunOptions{
			Name: run.Name, DetailsURL: given(run.URL), ExternalID: given(run.ExternalID), Status: status,
			Conclusion: conclusion, Output: run.output(add),
		})
		if err == nil {
			return there + len(add), nil
		}
		if !ErrAway(err) || try == maxTries {
			return there, err
		}
		if err := c.o.Sleep(ctx, backoff(try)); err != nil {
			return there, err
		}
		now, _, gerr := c.api.Checks.GetCheckRun(ctx, c.o.Repo.Owner, c.o.Repo.Name, id)
		if gerr != nil {
			return there, err
		}
		if len(add) > 0 && now.GetOutput().GetAnnotationsCount() >= there+len(add) {
			return there + len(add), nil
		}
	}
}

// findCheckRun finds the check run with the name and the external id on the commit, and how many annotations it has; 0
// when there is none.
func (c *Client) findCheckRun(ctx context.Context, run CheckRun) (id int64, arrived int, err error) {
	list, _, err := c.api.Checks.ListCheckRunsForRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, run.SHA,
		&github.ListCheckRunsOptions{
			CheckName: &run.Name, Filter: github.String("all"), ListOptions: github.ListOptions{PerPage: 100},
		})
	if err != nil {
		return 0, 0, err
	}
	for _, one := range list.CheckRuns {
		if one.GetExternalID() == run.ExternalID {
			return one.GetID(), one.GetOutput().GetAnnotationsCount(), nil
		}
	}
	return 0, 0, nil
}

// state is GitHub's status and conclusion of a check run.
func (run CheckRun) state() (status, conclusion *string) {
	if run.Conclusion == "" {
		return github.String("in_progress"), nil
	}
	return github.String("completed"), &run.Conclusion
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
