package github

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// TestShapesOfTheStandIn: the payloads that whole runs are tested with are read like GitHub's own.
func TestShapesOfTheStandIn(t *testing.T) {
	gh, err := fake.New(fake.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer gh.Close()
	gh.AddUser("alice", false)
	if err := gh.AddRepo("alice", "demo", "trunk"); err != nil {
		t.Fatal(err)
	}
	n := gh.AddIssue("alice", "demo", fake.Issue{Title: "T", Author: "alice", Labels: []string{"ralph"}})
	pr := gh.AddPull("alice", "demo", fake.Pull{Title: "P", Author: "alice", Head: "ralph/issue-1", Base: "trunk"})
	fork := gh.AddPull("alice", "demo",
		fake.Pull{Title: "F", Author: "alice", Head: "x", HeadRepo: "mallory/demo", Base: "trunk"})
	review := gh.AddReview("alice", "demo", pr, fake.Review{Author: "alice", State: "CHANGES_REQUESTED", Body: "no"})
	line := gh.AddReviewComment("alice", "demo", pr,
		fake.ReviewComment{Author: "alice", Path: "a.go", Line: 1, Body: "/ralph fix"})
	sha := strings.Repeat("ab", 20)
	run, _ := gh.AddWorkflowRun("alice", "demo",
		fake.WorkflowRun{Branch: "ralph/issue-1", SHA: sha, Conclusion: "failure", Actor: "alice"})
	forked, _ := gh.AddWorkflowRun("alice", "demo",
		fake.WorkflowRun{Branch: "ralph/issue-1", SHA: sha, HeadRepo: "mallory/demo", Conclusion: "success", Actor: "alice"})
	comment := gh.AddComment("alice", "demo", n, fake.Comment{Author: "alice", Body: "/ralph stop"})
	for _, tt := range []struct {
		name, event string
		payload     []byte
		want        string
	}{
		{"unlabeled", "issues", gh.UnlabeledPayload("alice", "demo", n, "ralph:running", "alice"),
			"unlabeled issues.unlabeled #1 “ralph:running”"},
		{"edited", "issues", gh.IssueEditedPayload("alice", "demo", n, fake.Issue{Title: "T", Body: "x"}, "alice"),
			"other issues.edited #1"},
		{"comment edited", "issue_comment", gh.CommentEditedPayload("alice", "demo", comment, "x", "alice"),
			"other issue_comment.edited #1 alice: /ralph stop"},
		{"pull request labeled", "pull_request", gh.PullLabeledPayload("alice", "demo", pr, "ralph", "alice"),
			"labeled pull_request.labeled #2 pull “ralph”"},
		{"fork labeled", "pull_request", gh.PullLabeledPayload("alice", "demo", fork, "ralph", "alice"),
			"labeled pull_request.labeled #3 pull fork “ralph”"},
		{"review", "pull_request_review", gh.ReviewPayload("alice", "demo", review),
			"reviewed pull_request_review.submitted #2 pull alice changes_requested of "},
		{"on a line", "pull_request_review_comment", gh.ReviewCommentPayload("alice", "demo", line),
			"commented pull_request_review_comment.created #2 pull alice inline: /ralph fix"},
		{"workflow", "workflow_run", gh.WorkflowRunPayload("alice", "demo", run),
			"built workflow_run.completed CI failure ralph/issue-1 " + sha},
		{"workflow in a fork", "workflow_run", gh.WorkflowRunPayload("alice", "demo", forked),
			"built workflow_run.completed CI success ralph/issue-1 " + sha},
		{"dispatch", "repository_dispatch",
			gh.RepositoryDispatchPayload("alice", "demo", "alice", "ralph", map[string]any{"issue": 1, "fresh": true}),
			"dispatched repository_dispatch {Issue:1 Prompt: Plan: Hint: Fresh:true MaxIterations:0}"},
	} {
		ev, err := ParseEvent(Delivery{Name: tt.event, Payload: tt.payload, Repository: "alice/demo", At: noon})
		if got := told(ev); err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %v\n got %q\nwant %q", tt.name, err, got, tt.want)
		}
		if ev.Build != nil && ev.Build.Fork != (tt.name == "workflow in a fork") {
			t.Errorf("%s: %+v", tt.name, ev.Build)
		}
		if ev.Sender.Login != "alice" || ev.Kind != event.Other && ev.At.IsZero() {
			t.Errorf("%s: %+v", tt.name, ev)
		}
	}
	gh.CloseIssue("alice", "demo", n)
	gh.ClosePull("alice", "demo", pr)
	for payload, want := range map[string]string{
		string(gh.IssueClosedPayload("alice", "demo", n, "alice")): "closed issues.closed #1 closed",
		string(gh.PullClosedPayload("alice", "demo", pr, "alice")): "closed pull_request.closed #2 pull closed",
	} {
		name, _, _ := strings.Cut(strings.Fields(want)[1], ".")
		ev, err := ParseEvent(Delivery{Name: name, Payload: []byte(payload), Repository: "alice/demo", At: noon})
		if got := told(ev); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}
