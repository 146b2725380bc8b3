package app

import (
	"context"
	"reflect"
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
	trigger string   // the label that asks
	labels  []string // those of the issue when it was read
	onto    string   // branch the pull request goes to
	log     func(format string, args ...any)
}

// begin shows that the run has started: the labels change, and the sticky comment appears.
func (p *publisher) begin(ctx context.Context, s loop.State) *loop.Post {
	issue := s.Start.Issue
	if issue == 0 {
		return nil
	}
	for _, label := range p.labels {
		if strings.EqualFold(label, p.trigger) || label == labelFailed {
			p.try("taking the label "+label+" off", p.hub.RemoveLabel(ctx, issue, label))
		}
	}
	p.try("changing labels", p.hub.AddLabel(ctx, issue, labelRunning))
	return p.refresh(ctx, s)
}

// watch hears of each record. It writes at most twice an iteration: when its commit arrives, and when the next turn begins.
func (p *publisher) watch(ctx context.Context, r loop.Record, s loop.State) *loop.Post {
	switch r.Type {
	case loop.TurnBegun:
		return p.refresh(ctx, s)
	case loop.Committed:
		switch {
		case s.Post.Pull == 0 && !r.Commit.NoDiff:
			return p.open(ctx, s, true)
		case s.Post.PullComment != 0 && !s.Post.Linked: // only then does the link lead to a comment; and not in the call budget of the first
			return p.link(ctx, s)
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

// refresh writes the sticky comment: on the issue until there is a pull request, then there. One that an earlier process of this run
// posted, and died before it could say so, is taken over; one that somebody has deleted is posted again.
func (p *publisher) refresh(ctx context.Context, s loop.State) *loop.Post {
	number, known, post := s.Start.Issue, s.Post.IssueComment, func(id int64) *loop.Post { return &loop.Post{IssueComment: id} }
	if s.Post.Pull != 0 {
		number, known, post = s.Post.Pull, s.Post.PullComment, func(id int64) *loop.Post { return &loop.Post{PullComment: id} }
	}
	if number == 0 {
		return nil
	}
	body, id := report.Comment(p.view(s)), known
	if known == 0 && !s.ResumedAt.IsZero() {
		var err error
		id, err = p.hub.FindComment(ctx, number, report.Marker(s.Start.Run))
		p.try("looking for the run's comment", err)
	}
	if id != 0 {
		err := p.hub.EditComment(ctx, id, body)
		if err == nil || !github.ErrGone(err) {
			p.try("updating the comment", err)
			if id == known {
				return nil
			}
			return post(id)
		}
	}
	id, err := p.hub.Comment(ctx, number, body)
	p.try("posting the comment", err)
	return posted(post(id))
}

// link turns the issue's comment into the one line that leads to the pull request.
func (p *publisher) link(ctx context.Context, s loop.State) *loop.Post {
	if s.Post.Pull == 0 || s.Post.IssueComment == 0 {
		return nil
	}
	err := p.hub.EditComment(ctx, s.Post.IssueComment, report.IssueLine(p.view(s)))
	p.try("linking the pull request", err)
	return posted(&loop.Post{Linked: err == nil})
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
	merge(p.refresh(ctx, s))
	p.failure(ctx, s)
	merge(p.link(ctx, s))
	if s.Start.Issue != 0 {
		p.try("changing labels", p.hub.RemoveLabel(ctx, s.Start.Issue, labelRunning))
		if !done && s.End.Outcome != loop.Interrupted && s.End.Outcome != loop.Waiting {
			p.try("changing labels", p.hub.AddLabel(ctx, s.Start.Issue, labelFailed))
		}
	}
	return posted(all)
}

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
	if reflect.ValueOf(*p).IsZero() {
		return nil
	}
	return p
}

func join(a, b *loop.Post) *loop.Post {
	s := loop.State{Post: *a}.With(loop.Record{Type: loop.Posted, Post: b})
	return &s.Post
}
