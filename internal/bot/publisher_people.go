package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// ending tells whoever asked of the outcome, in a comment of its own: nobody is told of one that is edited. Of a run
// that a limit stopped the failure report is that comment.
func (p *publisher) ending(ctx context.Context, s loop.State) *loop.Post {
	number := s.Post.Pull
	if number == 0 {
		number = s.Start.Issue
	}
	if number == 0 || s.End.Outcome.Limited() || s.Post.NotifyComment != 0 || !p.shouldNotify(s) {
		return nil
	}
	marker := report.Marker(fmt.Sprintf("%s.ended.%d", s.Start.Run, s.Endings))
	return posted(&loop.Post{NotifyComment: p.once(ctx, number, marker+"\n"+report.OutcomeComment(p.view(s)),
		"the comment that tells of the outcome")})
}

// people gives the pull request to whoever asked, and asks them for a review of what is done. GitHub asks the owners of
// the code by itself. What GitHub refuses is said and left: it would refuse it again.
func (p *publisher) people(ctx context.Context, s loop.State) *loop.Post {
	who, made := p.view(s).Asker(), &loop.Post{}
	if s.Post.Pull == 0 || who == "" || !p.shouldNotify(s) {
		return nil
	}
	if s.Post.Assigned == "" { // once: whoever gives it to somebody else means it
		if p.settled("assigning the pull request", p.github.Assign(ctx, s.Post.Pull, who)) {
			made.Assigned = who
		}
	}
	// its author cannot review
	if s.End.Outcome == loop.Done && s.Post.Requested == "" && !strings.EqualFold(who, p.github.Self()) {
		if p.settled("asking for a review", p.github.RequestReview(ctx, s.Post.Pull, who)) {
			made.Requested = who
		}
	}
	return posted(made)
}

// settled reports whether a write need not be tried again.
func (p *publisher) settled(doing string, err error) bool {
	if github.ErrRefused(err) {
		p.log("%s: %s", doing, strings.TrimSpace(err.Error()))
		return true
	}
	p.try(doing, err)
	return err == nil
}
