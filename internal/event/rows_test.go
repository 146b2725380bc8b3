package event

import (
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

// TestRulesReadAsSentences: each reason is one, with nothing left to fill in, and names what to do where something was
// dropped.
func TestRulesReadAsSentences(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		why := filled(r.why, Event{Name: "star.created", Label: "bug", Issue: &Issue{Number: 4}, On: 5}, defaults)
		if strings.ContainsAny(strings.ReplaceAll(why, "${{", ""), "{}") || strings.HasSuffix(why, ".") || len(why) < 15 {
			t.Errorf("not a sentence without its full stop: %q", why)
		}
		key := r.why + string(r.do)
		if seen[key] {
			t.Errorf("two rules with one end: %q", why)
		}
		seen[key] = true
		if r.do == Drop && len(strings.Fields(why)) < 8 {
			t.Errorf("a request is dropped with few words: %q", why)
		}
	}
}

var defaults = Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CIGate: true}

func TestDecide(t *testing.T) {
	issue := func(body string) Event {
		return Event{Kind: Commented, Issue: &Issue{Number: 4}, Comment: &Comment{Body: body}}
	}
	pull := func(ev Event, on int) Event {
		if ev.On = on; on == 0 {
			ev.Issue = &Issue{Number: 7, Pull: true}
		}
		return ev
	}
	label := Event{Kind: Labeled, Label: "ralph", Issue: &Issue{Number: 4}}
	closed := Event{Kind: Closed, Issue: &Issue{Number: 4, Closed: true}}
	off := Event{Kind: Unlabeled, Label: "RALPH:running", Issue: &Issue{Number: 4}}
	changes := Event{Kind: Reviewed, Issue: &Issue{Number: 4}, Review: &Review{State: "CHANGES_REQUESTED"}}
	red := Event{Kind: Built, Build: &Build{Conclusion: "failure"}}
	green := Event{Kind: Built, Build: &Build{Conclusion: "success"}}
	tests := []struct {
		name string
		ev   Event
		at   RunStatus
		do   Doing
		why  string
	}{
		{"the label begins", label, None, Begin, "this is the first run"},
		{"the label while it runs", label, Running, Drop, "already running here; this request was dropped"},
		{"the label put back is a retry", label, Failed, Again, "another chance"},
		{"the label on a stopped run", label, Halted, GoOn, ""},
		{"run after a failure begins anew", issue("/ralph run"), Failed, Begin, "a retry was not asked for"},
		{"retry of what is done", issue("/ralph retry"), Finished, Drop, "`/ralph retry --fresh`"},
		{"retry with words", issue("/ralph retry shorter"), Finished, Again, "a change was requested"},
		{"retry --fresh with words", issue("/ralph retry --fresh shorter"), Finished, Begin, "fresh start"},
		{"continue with nothing", issue("/ralph continue"), None, Drop, "`/ralph run` starts one"},
		{"continue with an answer", issue("/ralph continue yes, both"), Waiting, GoOn, "with your answer"},
		{"continue after a failure", issue("/ralph continue"), Failed, Drop, "`/ralph retry` resumes it"},
		{"stop", issue("/ralph stop"), Running, Halt, "kept"},
		{"stop of what waits", issue("/ralph stop"), Waiting, Close, "nothing resumes it"},
		{"stop of nothing", issue("/ralph stop"), None, Drop, "nothing runs here"},
		{"fix where there is no pull request", issue("/ralph fix"), Failed, Drop, "has no pull request"},
		{"fix on the pull request", pull(issue("/ralph fix"), 7), Finished, Again, "addresses the reviews"},
		{"fix while it runs", pull(issue("/ralph fix"), 7), Running, Drop, "every open thread"},
		{"run on another's pull request", pull(issue("/ralph run"), 0), None, Drop,
			"pull request #7 is not one that ralph opened"},
		{"status on another's pull request", pull(issue("/ralph status"), 0), None, Reply, ""},
		{"a closed issue", Event{Kind: Commented, Issue: &Issue{Number: 4, Closed: true},
			Comment: &Comment{Body: "/ralph run"}}, None, Drop, "issue #4 is closed; reopen it"},
		{"status on a closed issue", Event{Kind: Commented, Issue: &Issue{Number: 4, Closed: true},
			Comment: &Comment{Body: "/ralph"}}, None, Reply, ""},
		{"closing stops", closed, Running, Halt, "kept"},
		{"closing what waits", closed, Waiting, Close, ""},
		{"closing what is done", closed, Finished, Tidy, "its status labels are removed"},
		{"closing what nobody worked on", closed, None, Ignore, "nothing runs"},
		{"the label of a running run taken off", off, Running, Halt, ""},
		{"changes requested", pull(changes, 7), Finished, Again, ""},
		{"changes requested of another's", pull(changes, 0), None, Ignore, "not one that ralph opened"},
		{"another workflow fails", red, Finished, GoOn, "iterations that are left"},
		{"another workflow passes", green, Finished, Ignore, ""},
		{"what the run waits for", green, Waiting, GoOn, ""},
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
