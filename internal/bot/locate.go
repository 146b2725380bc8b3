package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What is asked is decided by one table, event.Decide. Here is what the table needs to know: which run it is about, and how that stands.

// standingOf is how a run stands for whoever asks for something now. A run that we hold ourselves is one that goes on.
func standingOf(s loop.State, known bool, owner string, now time.Time) event.Standing {
	switch {
	case !known:
		return event.None
	case s.End == nil && now.Before(s.Lease) && s.Owner != owner:
		return event.Running
	case s.End == nil:
		return event.Abandoned
	}
	switch s.End.Outcome {
	case loop.Done:
		return event.Finished
	case loop.Waiting:
		return event.Waiting
	case loop.Interrupted:
		return event.Halted
	}
	return event.Failed
}

// decide asks the table.
func (a *Action) decide(r event.Request, s loop.State, known bool) event.Decision {
	return event.Decide(r, standingOf(s, known, a.owner(), a.Clock()), a.rules)
}

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

// decline tells that nothing is begun, and why: whoever commented, and whoever put the label on, which comes off. The log and the job
// tell it in any case.
func (a *Action) decline(ctx context.Context, ev event.Event, d event.Decision) (loop.Result, error) {
	if d.Do == event.Ignore {
		a.log("nothing to do: %s", d.Why)
		return loop.Result{}, nil
	}
	return a.notOpened(ctx, ev, &heldError{d.Why})
}
