package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// idle are the doings for which nothing is begun.
var idle = []event.Doing{event.Drop, event.Ignore, event.Tell}

// decidedWithoutRun is what the table says of a request however its run may stand; ok is false when that matters.
func decidedWithoutRun(r event.Request, rules event.Rules) (d event.Decision, ok bool) {
	d = event.Decide(r, event.Standings[0], rules)
	for _, at := range event.Standings {
		if event.Decide(r, at, rules) != d {
			return d, false
		}
	}
	return d, slices.Contains(idle, d.Do)
}

// locate finds the run that a request is about, where the event names a pull request or a commit of it: the request is then about the
// issue that the run is for. Of any other request nothing is looked up; its run is read with its checkout.
func (a *Action) locate(ctx context.Context, r event.Request) (event.Request, loop.State, bool, error) {
	ev := r.Event
	looks := r.Verb == event.Stop || r.Verb == event.Status || r.Verb == event.Fix || r.Verb == event.Heed
	if ev.Issue == nil && ev.Build == nil || ev.Issue != nil && !ev.Issue.Pull && !looks {
		return r, loop.State{}, false, nil
	}
	runs, err := a.runs(ctx)
	if err != nil {
		return r, loop.State{}, false, err
	}
	i := slices.IndexFunc(runs, func(s loop.State) bool { return about(ev, s) })
	if i < 0 {
		return r, loop.State{}, false, nil
	}
	s := runs[i]
	r.Pull = s.Post.Pull
	if ev.Build != nil || ev.Issue.Pull {
		if r.Event.On, r.Event.OnClosed = s.Post.Pull, ev.Issue != nil && ev.Issue.Closed; s.Start.Issue != 0 {
			r.Event.Issue, err = a.github.Issue(ctx, s.Start.Issue)
		} else {
			r.Event.Issue = nil
		}
	}
	return r, s, true, err
}

// about reports whether an event is about a run.
func about(ev event.Event, s loop.State) bool {
	switch {
	case ev.Build != nil:
		return s.Post.Pull != 0 && ev.Build.Branch == s.Start.Branch && strings.EqualFold(ev.Build.SHA, s.Tip)
	case ev.Issue.Pull:
		return s.Post.Pull == ev.Issue.Number
	}
	return s.Start.Issue == ev.Issue.Number
}
