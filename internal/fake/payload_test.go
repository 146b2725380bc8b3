package fake_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func parse[T any](t *testing.T, kind string, payload []byte) T {
	t.Helper()
	parsed, err := github.ParseWebHook(kind, payload)
	check(t, err)
	event, is := parsed.(T)
	if !is {
		t.Fatalf("%s was read as %T", kind, parsed)
	}
	return event
}

func TestPayloads(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t", Body: "b", Author: "mallory"})
	pr := s.AddPull(owner, name, fake.Pull{Title: "p", Head: "x"})
	s.Label(owner, name, n, "ralph", owner)

	labelled := parse[*github.IssuesEvent](t, "issues", s.LabeledPayload(owner, name, n, "ralph", owner))
	equal(t, "action", labelled.GetAction(), "labeled")
	equal(t, "label", labelled.GetLabel().GetName(), "ralph")
	equal(t, "sender", labelled.GetSender().GetLogin(), owner)
	equal(t, "labels", len(labelled.GetIssue().Labels), 1)
	equal(t, "default branch", labelled.GetRepo().GetDefaultBranch(), "main")
	equal(t, "owner", labelled.GetRepo().GetOwner().GetLogin(), owner)

	for number, isPull := range map[int]bool{n: false, pr: true} {
		id := s.AddComment(owner, name, number, fake.Comment{Author: "mallory", Body: "/ralph run"})
		said := parse[*github.IssueCommentEvent](t, "issue_comment", s.CommentPayload(owner, name, id))
		equal(t, "action", said.GetAction(), "created")
		equal(t, "comment", said.GetComment().GetBody(), "/ralph run")
		equal(t, "sender", said.GetSender().GetLogin(), "mallory")
		equal(t, "on a pull request", said.GetIssue().IsPullRequest(), isPull)
	}

	asked := parse[*github.WorkflowDispatchEvent](t, "workflow_dispatch",
		s.DispatchPayload(owner, name, owner, map[string]string{"issue": "1"}))
	var inputs map[string]string
	check(t, json.Unmarshal(asked.Inputs, &inputs))
	equal(t, "input", inputs["issue"], "1")
	equal(t, "ref", asked.GetRef(), "refs/heads/main")

	var tick struct {
		Schedule   string
		Repository github.Repository
		Sender     *github.User
	}
	check(t, json.Unmarshal(s.SchedulePayload(owner, name), &tick))
	equal(t, "repository", tick.Repository.GetFullName(), "alice/demo")
	if tick.Schedule == "" || tick.Sender != nil {
		t.Errorf("schedule is %+v", tick)
	}
}
