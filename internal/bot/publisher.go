package bot

import (
	"context"
	"fmt"
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
		p.running = p.shows(on, github.LabelRunning)
		p.left = p.takeOff(ctx, issue, on, over) // the event may be old
	}
	return p.refresh(ctx, s)
}

// watch hears of each record. It writes at most twice an iteration: when its commit arrives, and when the next turn
// starts.
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
		case s.Post.Pull == 0 && !r.Commit.NoDiff && s.Tip != "":
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

// checkName is what ralph calls its check run, and the commit status that stands for it.
const checkName = "ralph"

// checkRun says the outcome on the newest commit, with a remark on each line that a failing check names.
func (p *publisher) checkRun(ctx context.Context, s loop.State) *loop.Post {
	if s.Tip == "" || s.Post.Pull == 0 {
		return nil
	}
	said := report.CheckRunOf(p.view(s))
	run := github.CheckRun{
		Name: checkName, SHA: s.Tip, ExternalID: s.Start.Run, URL: s.RunURL, Conclusion: said.Conclusion,
		Title: said.Title, Summary: said.Summary, Text: said.Text, Find: p.again || !s.ResumedAt.IsZero(),
	}
	if s.Post.CheckedSHA == s.Tip {
		run.ID = s.Post.CheckRun
	}
	for _, a := range said.Annotations {
		run.Annotations = append(run.Annotations,
			github.Annotation{Path: a.Path, Line: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	id, err := p.github.PutCheckRun(ctx, run)
	p.try("writing the check run", err)
	if id == 0 || id == run.ID {
		return nil
	}
	return &loop.Post{CheckRun: id, CheckedSHA: s.Tip}
}

// ending notifies the requester of the outcome once: by a request for a review if the work is done, and otherwise by a
// new comment, because GitHub notifies no one of an edit. After a limit, the failure report is that comment.
func (p *publisher) ending(ctx context.Context, s loop.State) *loop.Post {
	number, v := s.Post.Pull, p.view(s)
	if number == 0 {
		number = s.Start.Issue
	}
	if number == 0 || s.End.Outcome.Limited() || s.Post.NotifyComment != 0 || s.Post.Requested != "" || !p.shouldNotify(s) {
		return nil
	}
	closed := s.Post.Closed != nil && *s.Post.Closed
	// its author cannot review
	if who := v.Asker(); s.End.Outcome == loop.Done && s.Post.Pull != 0 && !closed && who != "" &&
		!strings.EqualFold(who, p.github.Self()) {
		err := p.github.RequestReview(ctx, number, who)
		if err == nil {
			return &loop.Post{Requested: who}
		}
		if !github.ErrRefused(err) { // otherwise GitHub would refuse it again
			p.try("asking for a review", err)
			return nil
		}
		p.log("asking for a review: %s", strings.TrimSpace(err.Error()))
	}
	marker := report.Marker(fmt.Sprintf("%s.ended.%d", s.Start.Run, s.Endings))
	return posted(&loop.Post{NotifyComment: p.once(ctx, number, marker+"\n"+report.OutcomeComment(v),
		"the comment with the outcome")})
}

// record publishes and notes in the journal what resulted from it.
func (a *Action) record(ctx context.Context, work *job, publish func(context.Context, loop.State) *loop.Post) {
	post := publish(ctx, work.Journal.State())
	if post == nil {
		return
	}
	_, err := work.Journal.Store(loop.Record{Type: loop.Posted, At: a.Clock(), Post: post})
	a.warn("recording what was published", err)
}
