package bot

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// open opens the pull request.
func (p *publisher) open(ctx context.Context, s loop.State, draft bool) *loop.Post {
	post, err := p.tryOpen(ctx, s, draft)
	p.try("opening the pull request", err)
	return post
}

// tryOpen opens the pull request, or says why GitHub does not. In a dry run there is neither.
func (p *publisher) tryOpen(ctx context.Context, s loop.State, draft bool) (*loop.Post, error) {
	v := p.view(s)
	made, err := p.github.OpenPull(ctx, github.PullRequest{
		Title: report.PullTitle(v), Body: report.PullBody(v), Head: s.Start.Branch, Base: p.onto, Draft: draft,
	})
	if made == nil || made.Number == 0 {
		return nil, err
	}
	return &loop.Post{Pull: made.Number, PullNode: made.NodeID, PullURL: made.URL, Draft: &made.Draft}, nil
}

// refresh writes the sticky comment: on the issue until there is a pull request, then there. One that an earlier
// process of this run posted, and died before it could say so, is taken over; one that someone has deleted is posted
// again.
func (p *publisher) refresh(ctx context.Context, s loop.State) *loop.Post {
	number, known, post := s.Start.Issue, s.Post.IssueComment,
		func(id int64) *loop.Post { return &loop.Post{IssueComment: id} }
	if s.Post.Pull != 0 {
		number, known, post = s.Post.Pull, s.Post.PullComment,
			func(id int64) *loop.Post { return &loop.Post{PullComment: id} }
	}
	if number == 0 {
		return nil
	}
	p.at, p.commentDeleted = p.clock(), false
	body, id := report.Comment(p.view(s)), known
	if known == 0 && (p.again || !s.ResumedAt.IsZero()) {
		id = p.find(ctx, number, report.Marker(s.Start.Run), "the run's comment")
	}
	if id != 0 {
		err := p.github.EditComment(ctx, id, body)
		if github.ErrGone(err) && p.find(ctx, number, report.Marker(s.Start.Run), "the run's comment") == 0 {
			id, err = p.github.Comment(ctx, number, body)
		}
		p.try("updating the comment", err)
		if id == known {
			return nil
		}
		return posted(post(id))
	}
	id, err := p.github.Comment(ctx, number, body)
	p.try("posting the comment", err)
	return posted(post(id))
}

// link turns the issue's comment into the one line that leads to the pull request.
func (p *publisher) link(ctx context.Context, s loop.State) *loop.Post {
	if s.Post.Pull == 0 || s.Post.IssueComment == 0 {
		return nil
	}
	err := p.github.EditComment(ctx, s.Post.IssueComment, report.IssueLine(p.view(s)))
	// someone has deleted it
	if github.ErrGone(err) && p.find(ctx, s.Start.Issue, report.Marker(s.Start.Run), "the run's comment") == 0 {
		return nil
	}
	p.try("linking the pull request", err)
	return posted(&loop.Post{Linked: err == nil})
}

// iteration posts the comment of the newest iteration.
func (p *publisher) iteration(ctx context.Context, s loop.State) *loop.Post {
	number, last := s.Post.Pull, s.Last()
	if number == 0 {
		number = s.Start.Issue
	}
	if number == 0 || last == nil || last.N <= s.Post.Each {
		return nil
	}
	id := p.once(ctx, number, report.IterationComment(p.view(s), last.N), "the iteration's comment")
	if id == 0 {
		return nil
	}
	return &loop.Post{Each: last.N}
}

// failure posts the failure report of a run that a limit stopped: on the draft pull request, or without one on the
// issue. The issue's own line links it.
func (p *publisher) failure(ctx context.Context, s loop.State) *loop.Post {
	number := s.Post.Pull
	if number == 0 {
		number = s.Start.Issue
	}
	if number == 0 || !s.End.Outcome.Limited() || s.Post.Failure != 0 {
		return nil
	}
	marker := report.Marker(fmt.Sprintf("%s.failure.%d", s.Start.Run, s.Retries))
	return posted(&loop.Post{Failure: p.once(ctx, number, marker+"\n"+p.mention(s)+report.Failure(p.view(s)),
		"the failure report")})
}
