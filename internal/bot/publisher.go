package bot

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// begin shows that the run has started: the labels change, and the sticky comment appears.
func (p *publisher) begin(ctx context.Context, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	issue := s.Start.Issue
	if issue == 0 {
		return nil
	}
	over := func(label string) bool {
		return strings.EqualFold(label, p.rules.TriggerLabel) || p.outdated(label, github.LabelRunning)
	}
	p.left = p.takeOff(ctx, issue, p.labels, over)
	if on, ok := p.putOn(ctx, issue, github.LabelRunning); ok {
		p.left = p.takeOff(ctx, issue, on, over) // the event may be old
	}
	return p.refresh(ctx, s)
}

// watch hears of each record. It writes at most twice an iteration: when its commit arrives, and when the next turn
// begins.
func (p *publisher) watch(ctx context.Context, r loop.Record, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Type {
	case loop.TurnBegun:
		over := p.each && p.spent >= mostAnIteration // its own comment has just told
		if p.spent = 0; over {
			return nil
		}
		return p.show(ctx, s)
	case loop.Committed:
		switch {
		case s.Post.Pull == 0 && !r.Commit.NoDiff:
			p.spent++
			return p.open(ctx, s, true)
		case s.Post.PullComment != 0 && s.Post.IssueComment != 0 && !s.Post.Linked:
			// only then does the link lead to a comment; and not in the call budget of the first
			p.spent++
			return p.link(ctx, s)
		case !p.each:
			return p.show(ctx, s)
		}
	case loop.Judged:
		if p.each {
			p.spent++
			return p.iteration(ctx, s)
		}
	case loop.Paused:
		return p.show(ctx, s)
	}
	return nil
}

// show brings the sticky comment up to date, as far as the iteration's calls reach: at once, or when it has been quiet
// for long enough. What is not shown now, the next write shows.
func (p *publisher) show(ctx context.Context, s loop.State) *loop.Post {
	p.latest = s
	known := s.Post.PullComment != 0 || s.Post.Pull == 0 && s.Post.IssueComment != 0
	wait := quiet - p.clock().Sub(p.at)
	switch {
	case p.spent >= mostAnIteration:
		return nil
	case !known || p.commentDeleted: // a new one: the pull request has just been opened
		p.waitForUpdates()
	case p.late != nil: // it will show this
		return nil
	case wait > 0:
		p.late = p.after(wait, func() { p.showLate(context.WithoutCancel(ctx)) })
		p.spent++
		return nil
	}
	p.spent++
	return p.refresh(ctx, s)
}

// showLate writes what has waited. It only edits a comment that is known: what it finds out about another one could not
// be recorded.
func (p *publisher) showLate(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.late == nil { // the end of the run was first
		return
	}
	p.late = nil
	ctx, cancel := context.WithTimeout(ctx, lateWrite)
	defer cancel()
	s := p.latest
	id := s.Post.PullComment
	if s.Post.Pull == 0 {
		id = s.Post.IssueComment
	}
	err := p.github.EditComment(ctx, id, report.Comment(p.view(s)))
	p.at, p.commentDeleted = p.clock(), github.ErrGone(err)
	p.try("updating the comment", err)
}
