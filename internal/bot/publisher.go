package bot

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// publisher shows a run on GitHub: one sticky comment, the pull request, the labels, the check run. Everything it writes is a view of the
// state that it is given; a write that fails is logged and made up for by the next one, because the work must go on.
type publisher struct {
	github *github.Client
	view   func(loop.State) report.View
	rules  event.Rules
	labels []string // those of the issue when it was read
	onto   string   // branch the pull request goes to
	each   bool     // a comment for each iteration (B-20)
	// notifyOn are the outcomes that whoever asked is told of, as in the setting.
	notifyOn []string
	// again says that an earlier process may have written what this one does not know of: it looks before it posts.
	again bool
	clock func() time.Time
	after func(time.Duration, func()) (stop func() bool) // time.AfterFunc
	log   func(format string, args ...any)

	mu     sync.Mutex  // held while something is written: a late write comes beside the run
	at     time.Time   // of the newest write of the sticky comment
	late   func() bool // ends the wait of a write for its time; nil: none waits
	latest loop.State  // what it will show
	gone   bool        // somebody has deleted the sticky comment
	failed bool        // a write came to nothing since this was last set to false
	left   []string    // labels that could not be taken off when the run began
	spent  int         // calls since the turn began
}

const (
	// quiet is how long the sticky comment stays as it is after a write, while a run goes on.
	quiet = 15 * time.Second
	// mostAnIteration is how many calls an iteration may take.
	mostAnIteration = 2
	lateWrite       = 30 * time.Second
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

// takeOff takes labels off that are over, and returns those that stayed.
func (p *publisher) takeOff(ctx context.Context, issue int, labels []string, over func(string) bool) (left []string) {
	for _, label := range labels {
		if !over(label) {
			continue
		}
		err := p.github.RemoveLabel(ctx, issue, label)
		p.try("taking the label "+label+" off", err)
		if err != nil {
			left = append(left, label)
		}
	}
	return left
}

// putOn puts the label of a standing on, and returns all that the issue has then.
func (p *publisher) putOn(ctx context.Context, issue int, standing string) (on []string, ok bool) {
	on, err := p.github.AddLabel(ctx, issue, p.rules.StatusLabel(standing))
	p.try("changing labels", err)
	return on, err == nil
}

// outdated reports whether a label shows another standing than the one that is true now.
func (p *publisher) outdated(label, now string) bool {
	return slices.ContainsFunc(github.StatusLabels, func(of string) bool { return of != now && strings.EqualFold(label, p.rules.StatusLabel(of)) })
}

// watch hears of each record. It writes at most twice an iteration: when its commit arrives, and when the next turn begins.
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
		case s.Post.PullComment != 0 && s.Post.IssueComment != 0 && !s.Post.Linked: // only then does the link lead to a comment; and not in the call budget of the first
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

// show brings the sticky comment up to date, as far as the iteration's calls reach: at once, or when it has been quiet for long enough.
// What is not shown now, the next write shows.
func (p *publisher) show(ctx context.Context, s loop.State) *loop.Post {
	p.latest = s
	known := s.Post.PullComment != 0 || s.Post.Pull == 0 && s.Post.IssueComment != 0
	wait := quiet - p.clock().Sub(p.at)
	switch {
	case p.spent >= mostAnIteration:
		return nil
	case !known || p.gone: // a new one: the pull request has just been opened
		p.settle()
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

// showLate writes what has waited. It only edits a comment that is known: what it finds out about another one could not be recorded.
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
	p.at, p.gone = p.clock(), github.ErrGone(err)
	p.try("updating the comment", err)
}

// settle lets no late write come after what is written now.
func (p *publisher) settle() {
	if p.late != nil {
		p.late()
		p.late = nil
	}
}

func (p *publisher) try(doing string, err error) {
	if err != nil {
		p.failed = true
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
