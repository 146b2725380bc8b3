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

// publisher shows a run on GitHub: one sticky comment, the pull request, the labels, the check run. Everything it
// writes is a view of the state that it is given; a write that fails is logged and made up for by the next one, because
// the work must continue.
type publisher struct {
	github *github.Client
	view   func(loop.State) report.View
	rules  event.Rules
	labels []string // those of the issue when it was read
	onto   string   // branch the pull request goes to
	each   bool     // a comment for each iteration
	// notifyOn are the outcomes that whoever asked is told of, as in the setting.
	notifyOn []string
	// again says that an earlier process may have written what this one does not know of: it looks before it posts.
	again bool
	clock func() time.Time
	after func(time.Duration, func()) (stop func() bool) // time.AfterFunc
	log   func(format string, args ...any)

	mu             sync.Mutex  // held while something is written: a late write comes beside the run
	at             time.Time   // of the newest write of the sticky comment
	late           func() bool // ends the wait of a write for its time; nil: none waits
	latest         loop.State  // what it will show
	commentDeleted bool        // someone has deleted the sticky comment
	running        bool        // the running label was read back from GitHub
	failed         error       // of a write since this was last set to nil; of all, one that says that GitHub was away
	left           []string    // labels that could not be taken off when the run began
	spent          int         // calls since the turn began
}

const (
	// quiet is how long the sticky comment stays as it is after a write, while a run continues.
	quiet = 15 * time.Second
	// mostAnIteration is how many calls an iteration may take.
	mostAnIteration = 2
	lateWrite       = 30 * time.Second
)

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

// shows reports whether the labels include that of a standing.
func (p *publisher) shows(labels []string, standing string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, p.rules.StatusLabel(standing)) })
}

// outdated reports whether a label shows another standing than the one that is true now.
func (p *publisher) outdated(label, now string) bool {
	return slices.ContainsFunc(github.StatusLabels,
		func(of string) bool { return of != now && strings.EqualFold(label, p.rules.StatusLabel(of)) })
}

// waitForUpdates lets no late write come after what is written now.
func (p *publisher) waitForUpdates() {
	if p.late != nil {
		p.late()
		p.late = nil
	}
}

func (p *publisher) try(doing string, err error) {
	if err != nil {
		if p.failed == nil || github.ErrAway(err) {
			p.failed = err
		}
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

// shouldNotify reports whether whoever asked is to be told of the newest outcome.
func (p *publisher) shouldNotify(s loop.State) bool {
	return slices.Contains(p.notifyOn, p.view(s).NotifyKind())
}

// mention is what the failure report begins with when it tells whoever asked.
func (p *publisher) mention(s loop.State) string {
	if who := p.view(s).Mention(); who != "" && p.shouldNotify(s) {
		return who + "\n\n"
	}
	return ""
}

// find looks for a comment that an earlier process may have posted; 0 when there is none.
func (p *publisher) find(ctx context.Context, number int, marker, what string) int64 {
	id, err := p.github.FindComment(ctx, number, marker)
	p.try("looking for "+what, err)
	return id
}

// once posts a comment that is not changed afterwards, unless an earlier process has. Its first line is its marker.
func (p *publisher) once(ctx context.Context, number int, body, what string) int64 {
	if p.again {
		marker, _, _ := strings.Cut(body, "\n")
		if id := p.find(ctx, number, marker, what); id != 0 {
			return id
		}
	}
	id, err := p.github.Comment(ctx, number, body)
	p.try("posting "+what, err)
	return id
}
