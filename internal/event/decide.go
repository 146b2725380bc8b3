package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Decision is what happens to a request, and why.
type Decision struct {
	Do  Doing
	Why string // one sentence, without its full stop
}

// place tells where the event stands, once Event.On says whether a pull request is one of ralph's.
func place(ev Event) Place {
	switch {
	case ev.On != 0 && (ev.OnClosed || ev.Issue != nil && ev.Issue.Pull && ev.Issue.Closed):
		return OnClosedPull
	case ev.Issue != nil && ev.Issue.Pull && ev.On == 0:
		return OnOtherPull
	case ev.Issue != nil && ev.Issue.Closed && !ev.Issue.Pull:
		return OnClosedIssue
	case ev.On != 0:
		return OnOwnPull
	case ev.Issue != nil:
		return OnIssue
	}
	return Nowhere
}

// Decide says what happens to a request by the status of the run that it is about: None without a run. It is the table
// of docs/internals/requests.md, of which the first row that fits holds. Event.On and Event.OnClosed must say by now on
// which of ralph's pull requests it was asked, and Request.Pull which pull request the run has.
func Decide(r Request, at RunStatus, rules Rules) Decision {
	asking := r.asking()
	i := find(asking, place(r.Event), at)
	if i < 0 {
		return Decision{Ignore, fmt.Sprintf("nothing is known of %s on %s while the run is %s", asking, place(r.Event), at)}
	}
	return Decision{rows[i].do, filled(rows[i].why, r.Event, rules)}
}

// asking is the row's name; a request that Read did not make is one by its verb.
func (r Request) asking() Trigger {
	asking := cmp.Or(r.Asking, commanded(r.Command))
	if asking == ByFix && r.Event.On == 0 && r.Pull == 0 && (r.Event.Issue == nil || !r.Event.Issue.Pull) {
		return ByFixNowhere
	}
	return asking
}

// find is the index of the first row that fits; -1 without one.
func find(asking Trigger, where Place, at RunStatus) int {
	return slices.IndexFunc(rows, func(r row) bool { return r.fits(asking, where, at) })
}

func (r row) fits(asking Trigger, where Place, at RunStatus) bool {
	return slices.Contains(r.asks, asking) && (r.on == nil || slices.Contains(r.on, where)) &&
		(r.at == nil || slices.Contains(r.at, at))
}

// hopeless is the sentence of a trigger that has no effect in any status of the run and in any place where it can be;
// ok is false if it might have one.
func hopeless(asking Trigger, ev Event) (why string, ok bool) {
	first := -1
	for _, where := range possible(ev) {
		for _, at := range Standings {
			i := find(asking, where, at)
			if i < 0 || rows[i].do != Ignore || first >= 0 && i != first {
				return "", false
			}
			first = i
		}
	}
	return rows[first].why, true
}

// possible are the places that an event may turn out to be on, before anything is looked up.
func possible(ev Event) []Place {
	if ev.Issue != nil && ev.Issue.Pull && ev.On == 0 {
		return []Place{OnOwnPull, OnClosedPull, OnOtherPull}
	}
	return []Place{place(ev)}
}

// filled puts names and numbers into a sentence of the table.
func filled(why string, ev Event, rules Rules) string {
	here := "this"
	switch {
	case ev.On != 0:
		here = fmt.Sprintf("pull request #%d", ev.On)
	case ev.Issue != nil && ev.Issue.Pull:
		here = fmt.Sprintf("pull request #%d", ev.Issue.Number)
	case ev.Issue != nil:
		here = fmt.Sprintf("issue #%d", ev.Issue.Number)
	}
	issue := "the issue"
	if ev.Issue != nil && !ev.Issue.Pull {
		issue = fmt.Sprintf("issue #%d", ev.Issue.Number)
	}
	return strings.NewReplacer("{here}", here, "{issue}", issue, "{phrase}", rules.TriggerPhrase, "{label}",
		rules.TriggerLabel,
		"{the label}", quote(ev.Label), "{event}", ev.Name).Replace(why)
}

// Read says what an event asks for: a request, a skip with its reason, or a *UsageError for a command that cannot be
// followed.
func Read(ev Event, rules Rules) (Request, *Skip, error) {
	req := Request{Event: ev, CommentsBy: rules.CommentsBy}
	if ev.Issue == nil && (ev.Kind == Labeled || ev.Kind == Unlabeled || ev.Kind == Closed || ev.Kind == Commented ||
		ev.Kind == Reviewed) {
		return req, &Skip{fmt.Sprintf("%s names no issue", ev.Name)}, nil
	}
	asking, cmd, err := askingOf(ev, rules)
	if err != nil {
		return req, nil, err
	}
	if why, ok := hopeless(asking, ev); ok {
		return req, &Skip{filled(why, ev, rules)}, nil
	}
	req.Asking, req.Command = asking, cmd
	if req.Verb == "" {
		req.Verb = requested[asking]
	}
	if ev.Kind == Dispatched {
		req.Prompt, req.PlanFile = ev.Ask.Prompt, ev.Ask.Plan
	}
	return req, nil, nil
}

// Request is what an event asks for, once it is known to be ours.
type Request struct {
	Command
	Asking     Trigger // the row of the table; empty in a request that no event made, which is one by its verb
	Event      Event
	Prompt     string     // a dispatch without an issue
	PlanFile   string     // of a plan in the repository, from its top; Verb is Run
	Pull       int        // the pull request of the run that it is about, once that is known
	CommentsBy CommentsBy // whose comments the agent reads
}

// Skip says why an event is not ours. It is a value, not an error: the job ends quietly with exit 0.
type Skip struct{ Reason string }
