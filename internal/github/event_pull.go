package github

import (
	"errors"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

var errNoPull = errors.New("it holds no pull request")

func ofPull(ev event.Event, p *github.PullRequestEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 {
		return ev, errNoPull
	}
	ev.Issue, ev.Label, ev.At = side(p.GetPullRequest()), p.GetLabel().GetName(), p.GetPullRequest().GetUpdatedAt().Time
	ev.Kind = ofAction(p.GetAction())
	return ev, nil
}

// ofReview reads a review. Its time is when it was submitted: the text of a draft may be older.
func ofReview(ev event.Event, p *github.PullRequestReviewEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 || p.Review == nil {
		return ev, errors.New("it holds no pull request or no review")
	}
	r := p.GetReview()
	ev.Issue, ev.At = side(p.GetPullRequest()), later(ev.At, r.GetSubmittedAt().Time)
	ev.Review = &event.Review{
		ID: r.GetID(), Author: actor(r.GetUser()), State: strings.ToLower(r.GetState()), Body: r.GetBody(),
		Commit: r.GetCommitID(), At: ev.At,
	}
	if p.GetAction() == "submitted" {
		ev.Kind = event.Reviewed
	}
	return ev, nil
}

// ofInline reads a comment on a line. One that was drafted with a review is created when it was written and updated
// when the review was submitted; that is no edit.
func ofInline(ev event.Event, p *github.PullRequestReviewCommentEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 || p.Comment == nil {
		return ev, errors.New("it holds no pull request or no comment")
	}
	c := p.GetComment()
	ev.Issue = side(p.GetPullRequest())
	ev.Comment = &event.Comment{
		ID: c.GetID(), Author: actor(c.GetUser()), Body: c.GetBody(), Inline: true,
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
	}
	ev.At = ev.Comment.UpdatedAt
	if ev.At.Before(ev.Comment.CreatedAt) {
		ev.At = ev.Comment.CreatedAt
	}
	if p.GetAction() == "created" {
		ev.Kind = event.Commented
	}
	return ev, nil
}
