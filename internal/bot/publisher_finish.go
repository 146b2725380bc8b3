package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// finish shows the outcome: the pull request, the comments, the check run, the answers to a review, the labels. Without
// a review it makes at most nine calls. Each of them may be made again: what a process that died in the middle, or a
// GitHub that said no, has left is made up for by the next sweep.
func (p *publisher) finish(ctx context.Context, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waitForUpdates()
	p.failed = nil
	all := &loop.Post{}
	for _, step := range []func(context.Context, loop.State) *loop.Post{p.pull, p.refresh, p.failure, p.ending,
		p.link, p.checkRun, p.answers, p.relabel} {
		if q := step(ctx, s); q != nil {
			all = join(all, q)
			s = s.With(loop.Record{Type: loop.Posted, At: s.At, Post: q})
		}
	}
	all.Finished = ctx.Err() == nil && p.failed == nil
	return posted(all)
}

// pull opens the pull request, or brings it up to date.
func (p *publisher) pull(ctx context.Context, s loop.State) *loop.Post {
	done := s.End.Outcome == loop.Done
	if s.Post.Pull != 0 {
		return p.update(ctx, s)
	}
	if s.Tip == "" || s.NoDiff() || s.End.ForPull { // that has just been tried
		return nil
	}
	made := p.open(ctx, s, !done)
	if made == nil {
		return nil
	}
	// an earlier process had opened a draft
	if q := p.ready(ctx, s.With(loop.Record{Type: loop.Posted, At: s.At, Post: made})); q != nil {
		return join(made, q)
	}
	return made
}

// update brings the pull request up to date, and takes that of a run which is done out of draft. The state tells when
// it turns out closed.
func (p *publisher) update(ctx context.Context, s loop.State) *loop.Post {
	v := p.view(s)
	post, closed, draft := &loop.Post{}, false, false
	title := "" // a maintainer may have renamed it
	if len(s.AtCap()) > 0 {
		title = report.PullTitle(v)
	}
	var err error
	if s.End.Outcome == loop.Done && s.Post.Draft != nil && *s.Post.Draft && s.Post.PullNode != "" {
		if closed, err = p.github.FinishPull(ctx, s.Post.PullNode, title, report.PullBody(v)); err == nil {
			post.Draft = new(bool)
		}
	} else {
		closed, draft, err = p.github.EditPull(ctx, s.Post.Pull, title, report.PullBody(v))
	}
	if err == nil && draft && !closed && s.End.Outcome == loop.Done { // a person has made it one
		err = p.github.ReadyPull(ctx, s.Post.PullNode)
	}
	p.try("updating the pull request", err)
	if was := s.Post.Closed != nil && *s.Post.Closed; err == nil && closed != was {
		post.Closed = &closed
	}
	return posted(post)
}

// ready takes the pull request of a run that is done out of draft.
func (p *publisher) ready(ctx context.Context, s loop.State) *loop.Post {
	if s.End.Outcome != loop.Done || s.Post.Draft == nil || !*s.Post.Draft {
		return nil
	}
	err := p.github.ReadyPull(ctx, s.Post.PullNode)
	p.try("marking the pull request ready", err)
	if err != nil {
		return nil
	}
	return &loop.Post{Draft: new(bool)}
}

// relabel shows the outcome on the issue.
func (p *publisher) relabel(ctx context.Context, s loop.State) *loop.Post {
	issue := s.Start.Issue
	if issue == 0 {
		return nil
	}
	now := endLabel(s)
	every := func(string) bool { return true }
	p.takeOff(ctx, issue, append(p.stale(ctx, s, now), p.rules.StatusLabel(github.LabelRunning)), every)
	if now == "" {
		return nil
	}
	if on, ok := p.putOn(ctx, issue, now); ok {
		p.takeOff(ctx, issue, on, func(label string) bool { return p.outdated(label, now) })
	}
	return nil
}

// stale are the labels that should be gone by now, but for the one that a run has while it continues: what could not be
// taken off when it began, and whatever an earlier process left.
func (p *publisher) stale(ctx context.Context, s loop.State, now string) []string {
	out := slices.Clone(p.left)
	if !p.again {
		return out
	}
	for _, label := range p.labels {
		if p.outdated(label, now) && label != p.rules.StatusLabel(github.LabelRunning) ||
			strings.EqualFold(label, p.rules.TriggerLabel) && p.answered(ctx, s, label) {
			out = append(out, label)
		}
	}
	return out
}

// answered reports whether a label that asks for a run was there before the run was last asked for: it asks for nothing
// more.
func (p *publisher) answered(ctx context.Context, s loop.State, label string) bool {
	_, at, err := p.github.LabelChanged(ctx, s.Start.Issue, event.Labeled, label)
	p.try("looking for who put the label "+label+" on", err)
	return err == nil && begunSince(s, at)
}

// begunSince reports whether a run was asked for at a time or later.
func begunSince(s loop.State, at time.Time) bool {
	return !s.StartedAt.Before(at) || !s.ResumedAt.Before(at)
}

// endLabel is what the labels say of a run that has ended; "" nothing.
func endLabel(s loop.State) string {
	switch s.End.Outcome {
	case loop.Interrupted:
		return ""
	case loop.Done:
		if s.Post.Pull == 0 || s.Post.Closed != nil && *s.Post.Closed {
			return ""
		}
		return github.LabelReview
	case loop.Waiting:
		return github.LabelWaiting
	}
	return github.LabelFailed
}

// answers answers each thread of the review that the run continued for.
func (p *publisher) answers(ctx context.Context, s loop.State) *loop.Post {
	if s.Feedback == nil || s.Post.Pull == 0 || s.End.Outcome == loop.Interrupted || s.End.Outcome == loop.Waiting {
		return nil
	}
	var done []int64
	for _, remark := range s.Feedback.Items {
		if slices.Contains(s.Post.Answered, remark.ID) {
			continue
		}
		if err := p.reply(ctx, s, remark); err != nil {
			p.try("answering a review's thread", err)
			continue
		}
		done = append(done, remark.ID)
	}
	return posted(&loop.Post{Answered: done})
}

// reply answers one thread, unless an earlier process has.
func (p *publisher) reply(ctx context.Context, s loop.State, remark loop.Remark) error {
	body := report.Answer(p.view(s), remark)
	if p.again {
		marker, _, _ := strings.Cut(body, "\n")
		if id, err := p.github.FindReply(ctx, s.Post.Pull, remark.ID, marker); id != 0 || err != nil {
			return err
		}
	}
	_, err := p.github.Reply(ctx, s.Post.Pull, remark.ID, body)
	return err
}
