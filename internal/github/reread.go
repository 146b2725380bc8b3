package github

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// EventOf reads the origin of a request on GitHub, and makes the event of it that the webhook had. Its sender wrote the
// comment or the review, or added the label; who passed the origin on does not matter. A sweep has no time. An
// *EditedError means that the issue was edited after the label was added: the requested text no longer exists.
func (c *Client) EventOf(ctx context.Context, o event.Origin) (event.Event, error) {
	r := &reread{c, o, event.Event{Repo: c.o.Repo}}
	var err error
	switch o.Kind {
	case "comment":
		err = r.comment(ctx)
	case "line":
		err = r.line(ctx)
	case "review":
		err = r.review(ctx)
	case "suite":
		err = r.suite(ctx)
	case "label":
		err = r.label(ctx, int(o.Number))
	default:
		r.ev.Kind, r.ev.Name = event.Scheduled, "schedule"
	}
	return r.ev, err
}

// reread is an event that is read from its origin.
type reread struct {
	*Client
	from event.Origin
	ev   event.Event
}

func (r *reread) comment(ctx context.Context) error {
	read, _, err := r.api.Issues.GetComment(ctx, r.o.Repo.Owner, r.o.Repo.Name, r.from.Number)
	if err != nil {
		return explain(fmt.Sprintf("reading comment %d", r.from.Number), err)
	}
	number, err := lastNumber(read.GetIssueURL())
	if err != nil {
		return fmt.Errorf("reading comment %d: %w", r.from.Number, err)
	}
	if r.ev.Issue, err = r.Issue(ctx, number); err != nil {
		return err
	}
	said := comment(read)
	r.ev.Kind, r.ev.Name, r.ev.Comment, r.ev.Sender, r.ev.At = event.Commented, "issue_comment.created", &said, said.Author,
		said.CreatedAt
	return nil
}

func (r *reread) line(ctx context.Context) error {
	read, _, err := r.api.PullRequests.GetComment(ctx, r.o.Repo.Owner, r.o.Repo.Name, r.from.Number)
	if err != nil {
		return explain(fmt.Sprintf("reading comment %d on a line", r.from.Number), err)
	}
	number, err := lastNumber(read.GetPullRequestURL())
	if err != nil {
		return fmt.Errorf("reading comment %d on a line: %w", r.from.Number, err)
	}
	pull, err := r.readPull(ctx, number)
	if err != nil {
		return err
	}
	made, err := ofInline(r.ev, &github.PullRequestReviewCommentEvent{Action: github.String("created"),
		PullRequest: pull, Comment: read})
	if err != nil {
		return fmt.Errorf("reading comment %d on a line: %w", r.from.Number, err)
	}
	made.Name, made.Sender = "pull_request_review_comment.created", made.Comment.Author
	r.ev = made
	return nil
}

func (r *reread) review(ctx context.Context) error {
	number := int(r.from.Number)
	doing := fmt.Sprintf("reading review %d of pull request #%d", r.from.Review, number)
	read, _, err := r.api.PullRequests.GetReview(ctx, r.o.Repo.Owner, r.o.Repo.Name, number, r.from.Review)
	if err != nil {
		return explain(doing, err)
	}
	pull, err := r.readPull(ctx, number)
	if err != nil {
		return err
	}
	made, err := ofReview(r.ev, &github.PullRequestReviewEvent{Action: github.String("submitted"), PullRequest: pull,
		Review: read})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	made.Name, made.Sender = "pull_request_review.submitted", made.Review.Author
	r.ev = made
	return nil
}

func (r *reread) suite(ctx context.Context) error {
	read, _, err := r.api.Checks.GetCheckSuite(ctx, r.o.Repo.Owner, r.o.Repo.Name, r.from.Number)
	if err != nil {
		return explain(fmt.Sprintf("reading check suite %d", r.from.Number), err)
	}
	r.ev.Kind, r.ev.Name, r.ev.At = event.Other, "check_suite.completed", read.GetUpdatedAt().Time
	r.ev, err = ofSuite(r.ev, &github.CheckSuiteEvent{Action: read.Status, CheckSuite: read, Repo: read.Repository})
	return err
}

func (r *reread) label(ctx context.Context, number int) (err error) {
	if r.ev.Issue, err = r.Issue(ctx, number); err != nil {
		return err
	}
	who, at, err := r.LabelChanged(ctx, number, event.Labeled, r.from.Label)
	if err != nil {
		return err
	}
	r.ev.Kind, r.ev.Name, r.ev.Label, r.ev.At, r.ev.Sender = event.Labeled, "issues.labeled", r.from.Label, at, event.Actor{Login: who}
	if r.ev.Issue.Pull { // its text is nothing that is worked on
		return nil
	}
	edited, err := r.LastEdited(ctx, number)
	if err == nil && edited.After(at) {
		err = &EditedError{number}
	}
	return err
}

// EditedError is of an issue whose text is another one than when someone asked.
type EditedError struct{ Number int }

func (e *EditedError) Error() string {
	return fmt.Sprintf("issue #%d was edited after it was labeled; take the label off and put it on again", e.Number)
}

// lastNumber is the last part of an address of GitHub's API: "…/issues/42".
func lastNumber(address string) (int, error) {
	n, err := strconv.Atoi(path.Base(address))
	if err != nil || n <= 0 {
		return 0, errors.New("GitHub does not say what it is on")
	}
	return n, nil
}
