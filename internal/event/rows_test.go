package event

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryCaseHasARule walks everything that can be asked, everywhere, however the run stands: one rule decides each,
// and no rule is there for nothing.
func TestEveryCaseHasARule(t *testing.T) {
	used := make([]bool, len(rows))
	for _, h := range headings {
		for _, where := range Places {
			for _, at := range Standings {
				i := find(h.asking, where, at)
				if i < 0 {
					t.Errorf("no rule for %s on %s while the run is %s", h.asking, where, at)
					continue
				}
				used[i] = used[i] || happens(h.asking, where)
			}
		}
	}
	for i, r := range rows {
		if !used[i] {
			t.Errorf("no case comes to the rule %+v", r)
		}
		for _, a := range r.asks {
			if !slices.ContainsFunc(headings, func(h heading) bool { return h.asking == a }) {
				t.Errorf("no heading for %s", a)
			}
		}
	}
}

// happens reports whether GitHub can send such an event from such a place.
func happens(asking Trigger, where Place) bool {
	pull := where == OnOwnPull || where == OnClosedPull || where == OnOtherPull
	switch asking {
	case ByLabel, ByPlanLabel:
		return where == OnIssue || where == OnClosedIssue
	case ByPullLabel, OtherPullLabel, ByChanges, PlainReview:
		return pull || where == OnClosedIssue // of a pull request that is open
	case ByFixNowhere:
		return where == OnIssue || where == OnClosedIssue
	case BuildUngated, BuildOfFork, ByBuildFailed, ByBuild, BySchedule:
		return where == Nowhere
	case ByDispatch, ByDispatchFresh, Anything:
		return true
	}
	return where != Nowhere
}

var defaults = Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CIGate: true}

func TestDecide(t *testing.T) {
	issue := func(body string) Event {
		return Event{Kind: Commented, Issue: &Issue{Number: 4}, Comment: &Comment{Body: body}}
	}
	fix := &Comment{Body: "/ralph fix"}
	pull := func(ev Event, on int) Event {
		if ev.On = on; on == 0 {
			ev.Issue = &Issue{Number: 7, Pull: true}
		}
		return ev
	}
	label := Event{Kind: Labeled, Label: "ralph", Issue: &Issue{Number: 4}}
	off := Event{Kind: Unlabeled, Label: "RALPH:running", Issue: &Issue{Number: 4}}
	changes := Event{Kind: Reviewed, Issue: &Issue{Number: 4}, Review: &Review{State: "CHANGES_REQUESTED"}}
	red := Event{Kind: Built, Build: &Build{Conclusion: "failure"}}
	tests := []struct {
		name string
		ev   Event
		at   RunStatus
		do   Doing
		why  string
	}{
		{"the label begins", label, None, Begin, "this is the first run"},
		{"the label put back is a retry", label, Failed, Again, "another chance"},
		{"retry with words", issue("/ralph retry shorter"), Finished, Again, "a change was requested"},
		{"continue with an answer", issue("/ralph continue yes, both"), Waiting, GoOn, "with your answer"},
		{"fix where there is no pull request", issue("/ralph fix"), Failed, Drop, "has no pull request"},
		{"fix on the pull request", pull(issue("/ralph fix"), 7), Finished, Again, "addresses the reviews"},
		{"fix on a closed pull request", Event{Kind: Commented, On: 7, OnClosed: true, Issue: &Issue{Number: 4}, Comment: fix}, Finished,
			Drop, "pull request #7 is closed"},
		{"fix on that of a plan", Event{Kind: Commented, On: 7, Issue: &Issue{Number: 7, Pull: true, Closed: true}, Comment: fix},
			Finished, Drop, "ask on the issue that it was made for"},
		{"fix for a closed issue", Event{Kind: Commented, On: 7, Issue: &Issue{Number: 4, Closed: true}, Comment: fix}, Finished,
			Drop, "issue #4 is closed"},
		{"run on another's pull request", pull(issue("/ralph run"), 0), None, Drop,
			"pull request #7 is not one that ralph opened"},
		{"a closed issue", Event{Kind: Commented, Issue: &Issue{Number: 4, Closed: true},
			Comment: &Comment{Body: "/ralph run"}}, None, Drop, "issue #4 is closed; reopen it"},
		{"status on a closed issue", Event{Kind: Commented, Issue: &Issue{Number: 4, Closed: true},
			Comment: &Comment{Body: "/ralph"}}, None, Reply, ""},
		{"the label of a running run taken off", off, Running, Halt, ""},
		{"changes requested", pull(changes, 7), Finished, Again, ""},
		{"changes requested of another's", pull(changes, 0), None, Ignore, "not one that ralph opened"},
		{"another workflow fails", red, Finished, GoOn, "iterations that are left"},
		{"a schedule", Event{Kind: Scheduled}, None, TakeUp, ""},
		{"a dispatch", Event{Kind: Dispatched, Ask: DispatchRequest{Prompt: "x"}}, None, Begin, ""},
		{"a fresh dispatch", Event{Kind: Dispatched, Ask: DispatchRequest{Prompt: "x", Fresh: true}}, Failed, Begin, "fresh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, skip, err := Read(tt.ev, defaults)
			if skip != nil || err != nil {
				t.Fatal(skip, err)
			}
			if got := Decide(r, tt.at, defaults); got.Do != tt.do || !strings.Contains(got.Why, tt.why) {
				t.Errorf("Decide = %+v, want %s with %q", got, tt.do, tt.why)
			}
		})
	}
}

// TestDecideOfWhatNoEventAsked: a sweep asks by the verb alone.
func TestDecideOfWhatNoEventAsked(t *testing.T) {
	sweep := Request{Command: Command{Verb: Run}, Event: Event{Kind: Scheduled, Issue: &Issue{Number: 4}}}
	for at, want := range map[RunStatus]Doing{None: Begin, Abandoned: GoOn, Running: Drop} {
		if got := Decide(sweep, at, defaults); got.Do != want {
			t.Errorf("%s: %+v, want %s", at, got, want)
		}
	}
	odd := Request{Command: Command{Verb: "dance"}}
	if got := Decide(odd, None, defaults); got.Do != Ignore {
		t.Errorf("what nobody knows: %+v", got)
	}
	if got := Decide(Request{Command: Command{Verb: Fix}, Pull: 7, Event: Event{Issue: &Issue{Number: 4}}}, Finished,
		defaults); got.Do != Again {
		t.Errorf("fix on the issue of a run with a pull request: %+v", got)
	}
}
