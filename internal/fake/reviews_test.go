package fake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestReplies(t *testing.T) {
	s := newScene(t)
	s.branch("work")
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "work"})
	other := s.AddPull(owner, name, fake.Pull{Title: "o", Head: "work"})
	first := s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "bob", Path: "work.txt", Line: 1, Body: "why?"})
	c := s.client(actions)
	reply := func(pull int, to int64) (*github.PullRequestComment, int) {
		into := new(github.PullRequestComment)
		r, err := c.NewRequest("POST", fmt.Sprintf("repos/alice/demo/pulls/%d/comments/%d/replies", pull, to),
			map[string]string{"body": "because"})
		check(t, err)
		resp, _ := c.Do(s.ctx, r, into)
		return into, status(resp)
	}
	made, code := reply(n, first)
	equal(t, "status", code, 201)
	equal(t, "in reply to", made.GetInReplyTo(), first)
	equal(t, "path", made.GetPath(), "work.txt")
	for what, to := range map[string]struct {
		pull int
		id   int64
	}{"a reply": {n, made.GetID()}, "another pull request": {other, first}, "nothing": {n, 1}} {
		if _, code := reply(to.pull, to.id); code != 404 {
			t.Errorf("a reply to %s: status %d, want 404", what, code)
		}
	}
	all := s.ReviewComments(owner, name, n)
	equal(t, "comments", len(all), 2)
	equal(t, "the reply's author", all[1].Author, "github-actions[bot]")

	_, _, err := c.Reactions.CreatePullRequestCommentReaction(s.ctx, owner, name, first, "eyes")
	check(t, err)
	equal(t, "reactions", len(s.ReviewComments(owner, name, n)[0].Reactions), 1)
}

// TestGraphQLProblems asks what GitHub would not understand.
func TestGraphQLProblems(t *testing.T) {
	s := newScene(t)
	s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main"})
	for _, tc := range []struct{ query, problem string }{
		{`{ repository(owner: "alice", name: "demo") { wishes } }`, "Field 'wishes' doesn't exist on type 'Repository'"},
		{`{ repository(owner: "alice", name: "nope") { id } }`, "no such repository: alice/nope"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) } }`, "Field must have selections"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads { nodes { id } } } } }`,
			"You must provide a `first`"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads(first: 101) { nodes { id } } } } }`, "Requesting 101 records"},
		{`{ repository(owner: "alice", name: "demo") { id }`, "the query cannot be read"},
		{`subscription { x }`, "the query cannot be read"},
	} {
		if out := s.ask(tc.query, nil); !strings.Contains(out, `"errors"`) {
			t.Errorf("%s answers %s", tc.query, out)
		}
		s.wantProblems = append(s.wantProblems, "POST /graphql: "+tc.problem)
	}
	const optional = `query($after: String) { repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads(first: 1, after: $after) { totalCount } } } }`
	if out := s.ask(optional, nil); !strings.Contains(out, `"totalCount":0`) {
		t.Errorf("a variable that may be left out: %s", out)
	}
	if out := s.ask(`{ repository(owner: "alice", name: "demo") { issue(number: 1) { id } } }`,
		nil); !strings.Contains(out, "NOT_FOUND") {
		t.Errorf("a pull request as an issue answers %s", out)
	}
}
