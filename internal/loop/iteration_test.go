package loop

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/plan"
)

// TestFailure: what is shown as the failure of an iteration, and what stands in the way of its work.
func TestFailure(t *testing.T) {
	no := func(check string) Verdict { return Verdict{Check: check, Severity: Hard} }
	yes := func(check string) Verdict { return Verdict{Check: check, Severity: Hard, Pass: true} }
	soft := Verdict{Check: "lint", Severity: Soft}
	skipped := Verdict{Check: "review", Severity: Hard, Skipped: "the agent does not claim to be done"}
	for _, tt := range []struct {
		name              string
		verdicts          []Verdict
		failure, obstacle string
	}{
		{"everything passed", []Verdict{yes(AgentCheck), yes(ClaimCheck), yes("make test"), soft}, "", ""},
		{"the turn ended with a failure, as it was told to, while the tests fail",
			[]Verdict{no(AgentCheck), no(ClaimCheck), no("make test"), skipped}, "make test", "make test"},
		{"the first check that failed counts", []Verdict{no(AgentCheck), no("make test"), no("make lint")}, "make test",
			"make test"},
		{"all checks passed: its own end is the failure", []Verdict{no(AgentCheck), no(ClaimCheck), yes("make test")},
			AgentCheck, AgentCheck},
		{"a missing claim hides no failing check", []Verdict{yes(AgentCheck), no(ClaimCheck), no("make test")}, "make test",
			"make test"},
		{"a missing claim alone", []Verdict{yes(AgentCheck), no(ClaimCheck), yes("make test"), soft}, ClaimCheck, ""},
		{"a missing claim behind the checks, as in a run of a prompt",
			[]Verdict{no(AgentCheck), no("make test"), no(ClaimCheck)}, "make test", "make test"},
	} {
		it := Iteration{Verdicts: tt.verdicts}
		name := func(v *Verdict) string {
			if v == nil {
				return ""
			}
			return v.Check
		}
		if got := name(it.Failure()); got != tt.failure {
			t.Errorf("%s: failure is %q, want %q", tt.name, got, tt.failure)
		}
		if got := name(it.Obstacle()); got != tt.obstacle {
			t.Errorf("%s: obstacle is %q, want %q", tt.name, got, tt.obstacle)
		}
	}
}

// TestHeldStoriesFoldAsEver: what was written into a plan's file because of a failed check is told again by the same
// words, whatever is shown as the failure now. What a person approves before the run continues stays theirs.
func TestHeldStoriesFoldAsEver(t *testing.T) {
	p := stories("A")
	p.Stories[0].ReviewStatus = plan.NeedsReview
	approved := *p.Reviewed("A", plan.Opinion{Approve: true}, plan.Rules{ReviewCap: 5}).Story("A")
	s := Fold([]Record{
		{Type: Started, Start: &Start{Plan: &Planned{Plan: p, ReviewCap: 5}}},
		{Type: TurnBegun, Iteration: 1, Mode: Review, Story: "A"},
		{Type: Turned, Iteration: 1, Turn: &Turn{Class: Broke, Exit: 1}},
		{Type: Committed, Iteration: 1,
			Commit: &Commit{SHA: "c", Tree: "t", Plan: &Advance{Stories: []plan.Story{approved}, Handed: true}}},
		{Type: Judged, Iteration: 1, Verdicts: []Verdict{{Check: AgentCheck, Severity: Hard, Reason: "exit code 1"},
			{Check: "make test", Severity: Hard, Reason: "exit code 2"}}},
	})
	story := s.Plan.Story("A")
	if story.Passes || !strings.Contains(story.ReviewFeedback, `The check "agent" failed after the review: exit code 1`) ||
		s.Failure().Check != "make test" {
		t.Errorf("story = %+v, failure %+v", story, s.Failure())
	}
	p.Stories[0] = approved
	s = s.With(Record{Type: Resumed, Resume: &Resume{
		Plan: &Planned{Plan: p, Record: []plan.RecordedReview{{Story: "A", By: plan.ByPerson, Who: "ann"}}}}})
	if got := s.OnRecord(); got[0].By != plan.ByPerson || got[0].Who != "ann" {
		t.Errorf("on record after ann's approval: %+v", got)
	}
}
