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
// says the same in one line. A job's token without checks: write is logged once; then, as after a status, the id is 0
// and there is no error.
func (c *Client) PutCheckRun(ctx context.Context, run CheckRun) (int64, error) {
	if c.dry("write the check run %s on %s: %s, %s", run.Name, short(run.SHA), run.Conclusion, run.Title) {
		return run.ID, nil
	}
	w := &checkRunWrite{Client: c, run: run, id: run.ID, notes: annotations(run.Annotations)}
	if c.noChecks {
		return 0, w.status(ctx)
	}
	doing := fmt.Sprintf("writing the check run %s on %s", run.Name, short(run.SHA))
	err := w.begin(ctx)
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
		return 0, w.status(ctx)
	}
	for err == nil && w.arrived < len(w.notes) {
		err = w.change(ctx)
	}
	return w.id, explain(doing, err)
}

// checkRunWrite writes one check run.
type checkRunWrite struct {
	*Client
	run     CheckRun
	id      int64 // 0 until it is known
	notes   []*github.CheckRunAnnotation
	arrived int // how many of notes GitHub has
}

// next are the notes that the next call adds.
func (w *checkRunWrite) next() []*github.CheckRunAnnotation {
	rest := w.notes[min(w.arrived, len(w.notes)):]
	return rest[:min(annotationsInCall, len(rest))]
}

// begin makes the check run, or changes the one that exists.
func (w *checkRunWrite) begin(ctx context.Context) error {
	if w.id == 0 && w.run.Find {
		if _, err := w.find(ctx); err != nil {
			return err
		}
	}
	if w.id != 0 {
		return w.change(ctx)
	}
	return w.post(ctx, func() error {
		add := w.next()
		status, conclusion := w.run.state()
		made, _, err := w.api.Checks.CreateCheckRun(ctx, w.o.Repo.Owner, w.o.Repo.Name, github.CreateCheckRunOptions{
			Name: w.run.Name, HeadSHA: w.run.SHA, DetailsURL: given(w.run.URL), ExternalID: given(w.run.ExternalID), Status: status,
			Conclusion: conclusion, Output: w.run.output(add),
		})
		if err == nil {
			w.id, w.arrived = made.GetID(), len(add)
		}
		return err
	}, func() (bool, error) { return w.find(ctx) })
}

// change changes what the check run says and adds the next notes. GitHub adds, it does not replace: when an answer is
// lost, it is asked how many there are before it is tried again.
func (w *checkRunWrite) change(ctx context.Context) error {
	add := w.next()
	now := w.arrived + len(add)
	err := w.post(ctx, func() error {
		status, conclusion := w.run.state()
		_, _, err := w.api.Checks.UpdateCheckRun(ctx, w.o.Repo.Owner, w.o.Repo.Name, w.id, github.UpdateCheckRunOptions{
			Name: w.run.Name, DetailsURL: given(w.run.URL), ExternalID: given(w.run.ExternalID), Status: status,
			Conclusion: conclusion, Output: w.run.output(add),
		})
		return err
	}, func() (bool, error) {
		read, _, err := w.api.Checks.GetCheckRun(ctx, w.o.Repo.Owner, w.o.Repo.Name, w.id)
		return len(add) > 0 && read.GetOutput().GetAnnotationsCount() >= now, err
	})
	if err == nil {
		w.arrived = now
	}
	return err
}

// find finds the check run with the name and the external id on the commit, and how many annotations it has.
func (w *checkRunWrite) find(ctx context.Context) (bool, error) {
	list, _, err := w.api.Checks.ListCheckRunsForRef(ctx, w.o.Repo.Owner, w.o.Repo.Name, w.run.SHA,
		&github.ListCheckRunsOptions{
			CheckName: &w.run.Name, Filter: github.String("all"), ListOptions: github.ListOptions{PerPage: 100},
		})
	if err != nil {
		return false, err
	}
	for _, one := range list.CheckRuns {
		if one.GetExternalID() == w.run.ExternalID {
			w.id, w.arrived = one.GetID(), one.GetOutput().GetAnnotationsCount()
			return true, nil
		}
	}
	return false, nil
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

// status says as a commit status what a check run would; if the token cannot do that either, a line in the log says it,
// and the run continues. Setting it twice is as setting it once: the last one of a name counts.
func (w *checkRunWrite) status(ctx context.Context) error {
	if !w.kind.personal() && w.kind != UnknownToken || w.noStatus {
		return nil
	}
	doing := fmt.Sprintf("setting the status %s of %s", w.run.Name, short(w.run.SHA))
	_, _, err := w.api.Repositories.CreateStatus(ctx, w.o.Repo.Owner, w.o.Repo.Name, w.run.SHA, &github.RepoStatus{
		State: github.String(statusOf(w.run.Conclusion)), TargetURL: given(w.run.URL), Context: &w.run.Name,
		Description: given(safetext.ShortenBytes(oneLine(w.run.Title), mostDescription)),
	})
	if ErrForbidden(err) || ErrGone(err) { // a classic token without the scope is answered with 404
		w.noStatus = true
		w.logf("%v; the commit does not show what ralph says of it", explain(doing, err))
		return nil
	}
	return explain(doing, err)
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
