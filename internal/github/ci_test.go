package github

import (
	"reflect"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestBuilds has a row for each word of GitHub's.
func TestBuilds(t *testing.T) {
	run := func(conclusion string) func(*stage) {
		return func(s *stage) {
			s.AddCheckRun(owner, name, fake.CheckRun{Name: "test", HeadSHA: s.sha, Conclusion: conclusion, Title: "T",
				Summary: "S"})
		}
	}
	status := func(state string) func(*stage) {
		return func(s *stage) { s.AddStatus(owner, name, s.sha, fake.Status{Context: "test", State: state}) }
	}
	tests := []struct {
		name    string
		say     []func(*stage)
		state   CIState
		failed  []string
		pending []string
	}{
		{"nobody", nil, CINone, nil, nil},
		{"one goes on", []func(*stage){run("")}, CIPending, nil, []string{"test"}},
		{"success", []func(*stage){run("success")}, CIPassed, nil, nil},
		{"neutral", []func(*stage){run("neutral")}, CIPassed, nil, nil},
		{"skipped", []func(*stage){run("skipped")}, CIPassed, nil, nil},
		{"failure", []func(*stage){run("failure")}, CIFailed, []string{"test failure"}, nil},
		{"timed out", []func(*stage){run("timed_out")}, CIFailed, []string{"test timed_out"}, nil},
		{"cancelled", []func(*stage){run("cancelled")}, CIPending, nil, []string{"test (cancelled)"}},
		{"a person must act", []func(*stage){run("action_required")}, CIPending, nil, []string{"test (action_required)"}},
		{"a status passes", []func(*stage){status("success")}, CIPassed, nil, nil},
		{"a status is pending", []func(*stage){status("pending")}, CIPending, nil, []string{"test"}},
		{"a status fails", []func(*stage){status("failure")}, CIFailed, []string{"test failure"}, nil},
		{"a status cannot tell", []func(*stage){status("error")}, CIFailed, []string{"test error"}, nil},
		{"an older status does not count", []func(*stage){status("failure"), status("success")}, CIPassed, nil, nil},
		{"failed decides", []func(*stage){run("failure"), status("pending")}, CIFailed, []string{"test failure"},
			[]string{"test"}},
		{"pending decides", []func(*stage){run("success"), status("pending")}, CIPending, nil, []string{"test"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			for _, say := range tt.say {
				say(s)
			}
			ci := must[CI](t)(s.client().Builds(t.Context(), s.sha, "ralph", 0))
			var failed []string
			for _, b := range ci.Failed {
				failed = append(failed, b.Name+" "+b.Conclusion)
			}
			if ci.State != tt.state || !reflect.DeepEqual(failed, tt.failed) || !reflect.DeepEqual(ci.Pending, tt.pending) {
				t.Errorf("%s, failed %q, pending %q; want %s, %q, %q", ci.State, failed, ci.Pending, tt.state, tt.failed,
					tt.pending)
			}
		})
	}
	odd := []*github.CheckRun{{Conclusion: github.String("startup_failure")}, {Conclusion: github.String("stale")}, {}}
	if ci := judge(odd, nil, "ralph", 0); len(ci.Failed) != 1 || len(ci.Pending) != 2 {
		t.Errorf("words that the stand-in does not know: %+v", ci)
	}
}

// TestBuildsLeavesItselfOut: ralph does not wait for what it says itself, nor for the job that it runs in.
func TestBuildsLeavesItselfOut(t *testing.T) {
	s := newStage(t)
	s.AddCheckRun(owner, name, fake.CheckRun{Name: "ralph", HeadSHA: s.sha, Conclusion: "failure"})
	s.AddStatus(owner, name, s.sha, fake.Status{Context: "ralph", State: "pending"})
	mine, _ := s.AddWorkflowRun(owner, name, fake.WorkflowRun{Branch: "main", Jobs: []fake.Job{{Name: "loop"}}})
	s.AddWorkflowRun(owner, name, fake.WorkflowRun{Branch: "main", Jobs: []fake.Job{{Name: "unit"}}})
	if ci := must[CI](t)(s.client().Builds(t.Context(), s.sha, "ralph", mine)); ci.State != CIPending ||
		len(ci.Pending) != 1 || ci.Pending[0] != "unit" {
		t.Errorf("%+v", ci)
	}
	unit := &github.CheckRun{Name: github.String("unit"), DetailsURL: github.String("https://github.com/alice/demo/actions/runs/771/job/1")}
	if ci := judge([]*github.CheckRun{unit}, nil, "ralph", 77); ci.State != CIPending {
		t.Error("the run 771 was taken for 77")
	}
}
