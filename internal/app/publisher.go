package app

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// The labels that show where a run stands (B-01).
const (
	labelRunning = "ralph:running"
	labelFailed  = "ralph:failed"
)

// publisher shows a run on GitHub: one sticky comment, the pull request, the labels. Everything it writes is a view of the state that
// it is given; a write that fails is logged and made up for by the next one, because the work must go on.
type publisher struct {
	hub     *github.Client
	view    func(loop.State) report.View
	trigger string // the label that asks
	onto    string // branch the pull request goes to
	log     func(format string, args ...any)
}

// begin shows that the run has started: the labels change, and the sticky comment appears.
func (p *publisher) begin(ctx context.Context, s loop.State) *loop.Post {
	issue := s.Start.Issue
	if issue == 0 {
		return nil
	}
	p.try("taking the trigger label off", p.hub.RemoveLabel(ctx, issue, p.trigger))
	if s.ResumedAt.After(s.StartedAt) && s.Retries > 0 {
		p.try("changing labels", p.hub.RemoveLabel(ctx, issue, labelFailed))
	}
	p.try("changing labels", p.hub.AddLabel(ctx, issue, labelRunning))
	return p.refresh(ctx, s)
}

// watch hears of each record. It writes at most twice an iteration: when its first commit arrives, and when the next turn begins.
func (p *publisher) watch(ctx context.Context, r loop.Record, s loop.State) *loop.Post {
	switch r.Type {
	case loop.TurnBegun:
		return p.refresh(ctx, s)
	case loop.Committed:
		if !r.Commit.NoDiff && s.Post.Pull == 0 {
			return p.open(ctx, s, true)
		}
	}
	return nil
}

// open opens the pull request (B-19).
func (p *publisher) open(ctx context.Context, s loop.State, draft bool) *loop.Post {
	v := p.view(s)
	made, err := p.hub.OpenPull(ctx, github.PullRequest{
		Title: report.PullTitle(v), Body: report.PullBody(v), Head: s.Start.Branch, Base: p.onto, Draft: draft,
	})
	p.try("opening the pull request", err)
	if made == nil || made.Number == 0 {
		return nil
	}
	return &loop.Post{Pull: made.Number, PullNode: made.NodeID, PullURL: made.URL, Draft: &made.Draft}
}

// refresh writes the sticky comment: on the issue until there is a pull request, then there, where the issue keeps one line.
func (p *publisher) refresh(ctx context.Context, s loop.State) *loop.Post {
	v := p.view(s)
	issue, pull := s.Start.Issue, s.Post.Pull
	switch {
	case pull != 0 && s.Post.PullComment == 0:
		id, err := p.hub.Comment(ctx, pull, report.Comment(v))
		p.try("commenting on the pull request", err)
		if s.Post.IssueComment != 0 {
			p.try("linking the pull request", p.hub.EditComment(ctx, s.Post.IssueComment, report.IssueLine(v)))
		}
		return posted(&loop.Post{PullComment: id})
	case pull != 0:
		return p.edit(ctx, s, pull, s.Post.PullComment, func(id int64) *loop.Post { return &loop.Post{PullComment: id} })
	case issue != 0 && s.Post.IssueComment == 0:
		if id := p.adopt(ctx, s, issue); id != 0 {
			s.Post.IssueComment = id
			p.edit(ctx, s, issue, id, func(int64) *loop.Post { return nil })
			return &loop.Post{IssueComment: id}
		}
		id, err := p.hub.Comment(ctx, issue, report.Comment(v))
		p.try("commenting on the issue", err)
		return posted(&loop.Post{IssueComment: id})
	case issue != 0:
		return p.edit(ctx, s, issue, s.Post.IssueComment, func(id int64) *loop.Post { return &loop.Post{IssueComment: id} })
	}
	return nil
}

// adopt finds the comment that an earlier process of this run posted and died before it could say so.
func (p *publisher) adopt(ctx context.Context, s loop.State, number int) int64 {
	if s.ResumedAt.IsZero() {
		return 0
	}
	id, err := p.hub.FindComment(ctx, number, report.Marker(s.Start.Run))
	p.try("looking for the run's comment", err)
	return id
}

// edit updates the sticky comment, or posts it again when somebody has deleted it.
func (p *publisher) edit(ctx context.Context, s loop.State, number int, id int64, post func(int64) *loop.Post) *loop.Post {
	body := report.Comment(p.view(s))
	err := p.hub.EditComment(ctx, id, body)
	if err != nil && github.ErrGone(err) {
		id, err = p.hub.Comment(ctx, number, body)
		p.try("commenting again", err)
		return posted(post(id))
	}
	p.try("updating the comment", err)
	return nil
}

// finish shows the outcome: the pull request, the comments, the labels. It makes at most eight calls.
func (p *publisher) finish(ctx context.Context, s loop.State) *loop.Post {
	done := s.End.Outcome == loop.Done
	all := &loop.Post{}
	merge := func(q *loop.Post) {
		if q != nil {
			all = join(all, q)
			s = s.With(loop.Record{Type: loop.Posted, At: s.At, Post: q})
		}
	}
	fresh := false
	if s.Post.Pull == 0 && s.Tip != "" && !s.NoDiff() {
		merge(p.open(ctx, s, !done))
		fresh = true
	}
	if s.Post.Pull != 0 && !fresh {
		v := p.view(s)
		p.try("updating the pull request", p.hub.EditPull(ctx, s.Post.Pull, report.PullTitle(v), report.PullBody(v)))
		if done && s.Post.Draft != nil && *s.Post.Draft {
			err := p.hub.ReadyPull(ctx, s.Post.PullNode)
			p.try("marking the pull request ready", err)
			if err == nil {
				merge(&loop.Post{Draft: new(bool)})
			}
		}
	}
	hadLine := s.Post.PullComment == 0 // refresh writes the issue's line only when it moves to the pull request
	merge(p.refresh(ctx, s))
	p.failure(ctx, s)
	if s.Post.Pull != 0 && s.Post.IssueComment != 0 && !hadLine {
		p.try("linking the pull request", p.hub.EditComment(ctx, s.Post.IssueComment, p.issueLine(s)))
	}
	if s.Start.Issue != 0 {
		p.try("changing labels", p.hub.RemoveLabel(ctx, s.Start.Issue, labelRunning))
		if !done && s.End.Outcome != loop.Interrupted {
			p.try("changing labels", p.hub.AddLabel(ctx, s.Start.Issue, labelFailed))
		}
	}
	return posted(all)
}

func (p *publisher) issueLine(s loop.State) string { return report.IssueLine(p.view(s)) }

// failure posts the failure report of a run that a limit stopped: on the draft pull request, or without one on the issue (B-21). The
// issue's own line links it.
func (p *publisher) failure(ctx context.Context, s loop.State) {
	if !s.End.Outcome.Limited() {
		return
	}
	number := s.Post.Pull
	if number == 0 {
		number = s.Start.Issue
	}
	if number == 0 {
		return
	}
	_, err := p.hub.Comment(ctx, number, report.Failure(p.view(s)))
	p.try("posting the failure report", err)
}

func (p *publisher) try(doing string, err error) {
	if err != nil {
		p.log("%s: %s", doing, strings.TrimSpace(err.Error()))
	}
}

// posted is a post worth recording; nil when nothing came of it.
func posted(p *loop.Post) *loop.Post {
	if *p == (loop.Post{}) {
		return nil
	}
	return p
}

func join(a, b *loop.Post) *loop.Post {
	s := loop.State{Post: *a}.With(loop.Record{Type: loop.Posted, Post: b})
	return &s.Post
}
