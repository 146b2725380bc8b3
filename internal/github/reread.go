package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// EventOf reads on GitHub what someone asked with, and makes the event of it that the webhook brought: its sender is
// who wrote the comment or the review, or put the label on, whoever handed the origin over. A sweep has no time. An *EditedError is
// of a label whose issue was edited after it was put on: the text that was asked for is not to be had any more.
func (c *Client) EventOf(ctx context.Context, o event.Origin) (event.Event, error) {
	ev := event.Event{Repo: c.o.Repo}
	var err error
	switch {
	case o.Comment != 0:
		err = c.ofComment(ctx, &ev, o.Comment)
	case o.Line != 0:
		err = c.ofLine(ctx, &ev, o.Line)
	case o.Review != 0:
		err = c.ofReview(ctx, &ev, o.Number, o.Review)
	case o.Suite != 0:
		err = c.ofSuite(ctx, &ev, o.Suite)
	case o == event.Origin{}:
		ev.Kind, ev.Name = event.Scheduled, "schedule"
	default:
		err = c.ofLabel(ctx, &ev, o.Number, o.Label)
	}
	return ev, err
}

func (c *Client) ofComment(ctx context.Context, ev *event.Event, id int64) error {
	read, _, err := c.api.Issues.GetComment(ctx, c.o.Repo.Owner, c.o.Repo.Name, id)
	if err != nil {
		return explain(fmt.Sprintf("reading comment %d", id), err)
	}
	number, err := lastNumber(read.GetIssueURL())
	if err != nil {
		return fmt.Errorf("reading comment %d: %w", id, err)
	}
	if ev.Issue, err = c.Issue(ctx, number); err != nil {
		return err
	}
	said := comment(read)
	ev.Kind, ev.Name, ev.Comment, ev.Sender, ev.At = event.Commented, "issue_comment.created", &said, said.Author,
		said.CreatedAt
	return nil
}

func (c *Client) ofLine(ctx context.Context, ev *event.Event, id int64) error {
	read, _, err := c.api.PullRequests.GetComment(ctx, c.o.Repo.Owner, c.o.Repo.Name, id)
	if err != nil {
		return explain(fmt.Sprintf("reading comment %d on a line", id), err)
	}
	number, err := lastNumber(read.GetPullRequestURL())
	if err != nil {
		return fmt.Errorf("reading comment %d on a line: %w", id, err)
	}
	pull, err := c.pullOf(ctx, number)
	if err != nil {
		return err
	}
	made, err := ofInline(*ev, &github.PullRequestReviewCommentEvent{Action: github.String("created"),
		PullRequest: pull, Comment: read})
	if err != nil {
		return fmt.Errorf("reading comment %d on a line: %w", id, err)
	}
	made.Name, made.Sender = "pull_request_review_comment.created", made.Comment.Author
	*ev = made
	return nil
}

func (c *Client) ofReview(ctx context.Context, ev *event.Event, number int, id int64) error {
	doing := fmt.Sprintf("reading review %d of pull request #%d", id, number)
	read, _, err := c.api.PullRequests.GetReview(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, id)
	if err != nil {
		return explain(doing, err)
	}
	pull, err := c.pullOf(ctx, number)
	if err != nil {
		return err
	}
	made, err := ofReview(*ev, &github.PullRequestReviewEvent{Action: github.String("submitted"), PullRequest: pull,
		Review: read})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	made.Name, made.Sender = "pull_request_review.submitted", made.Review.Author
	*ev = made
	return nil
}

func (c *Client) ofSuite(ctx context.Context, ev *event.Event, id int64) error {
	read, _, err := c.api.Checks.GetCheckSuite(ctx, c.o.Repo.Owner, c.o.Repo.Name, id)
	if err != nil {
		return explain(fmt.Sprintf("reading check suite %d", id), err)
	}
	ev.Kind, ev.Name, ev.At = event.Other, "check_suite.completed", read.GetUpdatedAt().Time
	*ev, err = ofSuite(*ev, &github.CheckSuiteEvent{Action: read.Status, CheckSuite: read, Repo: read.Repository})
	return err
}

func (c *Client) pullOf(ctx context.Context, number int) (*github.PullRequest, error) {
	pull, _, err := c.api.PullRequests.Get(ctx, c.o.Repo.Owner, c.o.Repo.Name, number)
	if err != nil {
		return nil, explain(fmt.Sprintf("reading pull request #%d", number), err)
	}
	return pull, nil
}

func (c *Client) ofLabel(ctx context.Context, ev *event.Event, number int, label string) (err error) {
	if ev.Issue, err = c.Issue(ctx, number); err != nil {
		return err
	}
	who, at, err := c.LabelChanged(ctx, number, event.Labeled, label)
	if err != nil {
		return err
	}
	ev.Kind, ev.Name, ev.Label, ev.At, ev.Sender = event.Labeled, "issues.labeled", label, at, event.Actor{Login: who}
	if ev.Issue.Pull { // its text is nothing that is worked on
		return nil
	}
	edited, err := c.LastEdited(ctx, number)
	if err == nil && edited.After(at) {
		err = &EditedError{number}
	}
	return err
}

// EditedError is of an issue whose text is another one than when someone asked.
type EditedError struct{ Number int }

func (e *EditedError) Error() string {
	return fmt.Sprintf("issue #%d was edited after it was labelled; take the label off and put it on again", e.Number)
}

// lastNumber is the last part of an address of GitHub's API: "…/issues/42".
func lastNumber(address string) (int, error) {
	n, err := strconv.Atoi(path.Base(address))
	if err != nil || n <= 0 {
		return 0, errors.New("GitHub does not say what it is on")
	}
	return n, nil
}

// DispatchError is why GitHub does not start a workflow, in one sentence that says what to do.
type DispatchError struct{ Why string }

func (e *DispatchError) Error() string { return e.Why }

// dispatch is App.Dispatch with a token of the repository.
func (c *Client) dispatch(ctx context.Context, file, branch string, inputs map[string]any) error {
	_, err := c.api.Actions.CreateWorkflowDispatchEventByFileName(ctx, c.o.Repo.Owner, c.o.Repo.Name, file,
		github.CreateWorkflowDispatchEventRequest{Ref: branch, Inputs: inputs})
	var said *github.ErrorResponse
	if !errors.As(err, &said) || said.Response == nil {
		return explainUnless(err, "starting the workflow "+file)
	}
	why := strings.TrimSuffix(oneLine(said.Message), ".")
	switch {
	case statusIs(err, http.StatusNotFound):
		why = fmt.Sprintf("The workflow %s does not exist: %s has no such file in .github/workflows. Add it, or change the "+
			"setting workflow.", file, branch)
	case statusIs(err, http.StatusUnprocessableEntity):
		why = fmt.Sprintf("The workflow %s cannot be started: GitHub says “%s”. It needs workflow_dispatch under on:, with "+
			"the input request.", file, why)
	case ErrForbidden(err):
		why = fmt.Sprintf("The workflow %s may not be started: GitHub says “%s”. Give the App the permission Actions: "+
			"write, and accept it for the installation.", file, why)
	default:
		return explain("starting the workflow "+file, err)
	}
	return &DispatchError{why}
}

func explainUnless(err error, doing string) error {
	if err == nil {
		return nil
	}
	return explain(doing, err)
}
