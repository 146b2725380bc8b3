package event

import (
	"strings"
	"testing"
	"time"
)

// TestReadOfEveryKind: what asks for something, by its row of the table, and what does not, by its reason.
func TestReadOfEveryKind(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	issue, pull, shut := &Issue{Number: 3}, &Issue{Number: 7, Pull: true}, &Issue{Number: 3, Closed: true}
	reviewed := func(state, body string) Event {
		return Event{Kind: Reviewed, Issue: pull, Review: &Review{State: state, Body: body}}
	}
	built := func(conclusion string, fork bool) Event {
		return Event{Kind: Built, Build: &Build{Conclusion: conclusion, Fork: fork}}
	}
	tests := []struct {
		name   string
		ev     Event
		asking Trigger
		verb   Verb
		skip   string
	}{
		{"our label", Event{Kind: Labeled, Label: "Ralph", Issue: issue}, ByLabel, Run, ""},
		{"the label that asks for a plan", Event{Kind: Labeled, Label: "Ralph:Plan", Issue: issue}, ByPlanLabel, Plan, ""},
		{"our label on a closed issue", Event{Kind: Labeled, Label: "ralph", Issue: shut}, "", "", "#3 is closed"},
		{"a label of ours that asks for nothing", Event{Kind: Labeled, Label: "ralph:failed", Issue: issue}, "", "",
			"the label is “ralph:failed”, not “ralph” or “ralph:plan”"},
		{"a command", Event{Kind: Commented, Issue: issue, Comment: &Comment{Body: "/ralph approve", CreatedAt: at, UpdatedAt: at}},
			ByApprove, Approve, ""},
		{"an edited command", Event{Kind: Commented, Issue: issue,
			Comment: &Comment{Body: "/ralph approve", CreatedAt: at, UpdatedAt: at.Add(time.Second)}}, "", "", "edited"},
		{"a dispatch", Event{Kind: Dispatched}, ByDispatch, Run, ""},
		{"a schedule", Event{Kind: Scheduled}, BySchedule, Sweep, ""},
		{"anything else", Event{Kind: Other, Name: "star.created"}, "", "", "nothing on star.created"},
		{"the label on a pull request", Event{Kind: Labeled, Label: "ralph", Issue: pull}, ByPullLabel, Fix, ""},
		{"the plan's label there", Event{Kind: Labeled, Label: "ralph:plan", Issue: pull}, "", "",
			"a plan is made of an issue"},
		{"another label there", Event{Kind: Labeled, Label: "ralph:review", Issue: pull}, "", "",
			"the label is “ralph:review”, not “ralph”"},
		{"the state's label taken off", Event{Kind: Unlabeled, Label: "Ralph:Running", Issue: issue}, RunningOff, Stop, ""},
		{"the label taken off", Event{Kind: Unlabeled, Label: "ralph", Issue: issue}, "", "",
			"taking “ralph” off withdraws a request that has not started"},
		{"another label taken off", Event{Kind: Unlabeled, Label: "<b>", Issue: issue}, "", "",
			"the label “?b>” was taken off"},
		{"closed", Event{Kind: Closed, Issue: shut}, ByClosing, Stop, ""},
		{"merged", Event{Kind: Closed, Issue: &Issue{Number: 7, Pull: true, Closed: true}}, ByClosing, Stop, ""},
		{"without an issue", Event{Kind: Closed, Name: "issues.closed"}, "", "", "issues.closed names no issue"},
		{"a command on a line", Event{Kind: Commented, Issue: pull,
			Comment: &Comment{Body: "/ralph fix it", Inline: true, CreatedAt: at, UpdatedAt: at.Add(time.Hour)}}, ByFix, Fix,
			""},
		{"a plain comment on a line", Event{Kind: Commented, Issue: pull, Comment: &Comment{Body: "why?", Inline: true}}, "",
			"", "does not begin with /ralph"},
		{"changes requested", reviewed("changes_requested", "not yet"), ByChanges, Fix, ""},
		{"a command that requests changes", reviewed("changes_requested", "/ralph stop"), ByStop, Stop, ""},
		{"an approval", reviewed("approved", "nice"), "", "", "requests no changes"},
		{"a workflow that failed", built("failure", false), ByBuildFailed, OnCIResult, ""},
		{"a workflow that did not begin", built("startup_failure", false), ByBuildFailed, OnCIResult, ""},
		{"a workflow that passed", built("success", false), ByBuild, OnCIResult, ""},
		{"a workflow in a fork", built("failure", true), "", "", "in a fork"},
		{"an edited comment", Event{Kind: Other, Name: "issue_comment.edited", Issue: issue}, "", "",
			"the comment was edited; write a new one"},
		{"an edited issue", Event{Kind: Other, Name: "issues.edited", Issue: issue}, "", "", "`/ralph retry`"},
		{"a dismissed review", Event{Kind: Other, Name: "pull_request_review.dismissed", Issue: pull}, "", "",
			"ralph does nothing on pull_request_review.dismissed"},
		{"a fresh dispatch", Event{Kind: Dispatched, Ask: DispatchRequest{Plan: "ralph/tasks.json", Fresh: true, Hint: "x", MaxIterations: 4}},
			ByDispatchFresh, Retry, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, skip, err := Read(tt.ev, defaults)
			switch {
			case err != nil:
				t.Fatal(err)
			case tt.skip != "" && (skip == nil || !strings.Contains(skip.Reason, tt.skip)):
				t.Errorf("skip = %v, want %q", skip, tt.skip)
			case tt.skip == "" && (skip != nil || r.Asking != tt.asking || r.Verb != tt.verb):
				t.Errorf("%q %q, skip = %v, want %q %q", r.Asking, r.Verb, skip, tt.asking, tt.verb)
			}
		})
	}
	ungated := defaults
	ungated.CIGate = false
	if _, skip, _ := Read(built("failure", false), ungated); skip == nil ||
		!strings.Contains(skip.Reason, "ci_gate is off") {
		t.Errorf("a gate that is off: %v", skip)
	}
	r, _, _ := Read(tests[len(tests)-1].ev, defaults)
	if r.Hint != "x" || !r.Fresh || r.MaxIterations != 4 || r.PlanFile != "ralph/tasks.json" {
		t.Errorf("what the dispatch says: %+v", r.Command)
	}
	if _, _, err := Read(reviewed("changes_requested", "/ralph dance"), defaults); err == nil {
		t.Error("a review with a word that is not understood")
	}
}
