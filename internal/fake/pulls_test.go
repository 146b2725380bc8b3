package fake_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func newPull(head string) *github.NewPullRequest {
	return &github.NewPullRequest{
		Title: github.String("A change"), Body: github.String("Closes #1"), Head: github.String(head),
		Base: github.String("main"), Draft: github.Bool(true),
	}
}

func TestPullRefused(t *testing.T) {
	s := newScene(t)
	s.branch("work")
	c := s.client(pat)
	_, _, err := c.PullRequests.Create(s.ctx, owner, name, newPull("work"))
	check(t, err)
	for head, want := range map[string]string{
		"work":  "A pull request already exists for alice:work.",
		"nope":  "head",
		"main":  "No commits between main and main",
		"alice": "head",
	} {
		_, _, err := c.PullRequests.Create(s.ctx, owner, name, newPull(head))
		var refused *github.ErrorResponse
		if !errors.As(err, &refused) || refused.Response.StatusCode != 422 || refused.Message != "Validation Failed" ||
			!strings.Contains(refused.Error(), want) {
			t.Errorf("head %s: %v, want 422 with %q", head, err, want)
		}
	}
	equal(t, "pull requests", len(s.Pulls(owner, name)), 1)
}

func TestDraft(t *testing.T) {
	s := newScene(t)
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main", Draft: true})
	id := s.Pulls(owner, name)[0].NodeID
	ask := s.ask
	const ready = `mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
	if out := ask(ready, map[string]any{"id": id}); !strings.Contains(out, `"isDraft":false`) ||
		strings.Contains(out, "errors") {
		t.Errorf("marking as ready answers %s", out)
	}
	equal(t, "draft", s.Pulls(owner, name)[0].Draft, false)
	equal(t, "draft in REST", mustPull(t, s, n).GetDraft(), false)
	if out := ask(ready, map[string]any{"id": "PR_nope"}); !strings.Contains(out, "NOT_FOUND") {
		t.Errorf("an unknown pull request answers %s", out)
	}

	s.wantProblems = []string{"POST /graphql: no such mutation"}
	ask(`mutation{closePullRequest(input:{pullRequestId:"x"}){pullRequest{id}}}`, nil)
}

// TestEditor: who edited a comment is told by GraphQL alone, and of a bot without [bot].
func TestEditor(t *testing.T) {
	s := newScene(t)
	issue := s.AddIssue(owner, name, fake.Issue{Title: "t", Author: "alice"})
	id := s.AddComment(owner, name, issue, fake.Comment{Author: "alice", Body: "c"})
	list, _, err := s.client(actions).Issues.ListComments(s.ctx, owner, name, issue, nil)
	check(t, err)
	const query = `query($id: ID!) { node(id: $id) { ... on Issue { title } ... on IssueComment { lastEditedAt editor { __typename login } } } }`
	who := func() string { return s.ask(query, map[string]any{"id": list[0].GetNodeID()}) }
	if out := who(); !strings.Contains(out, `"editor":null,"lastEditedAt":null`) || strings.Contains(out, "title") {
		t.Errorf("never edited: %s", out)
	}
	for by, want := range map[string]string{"bob": `"__typename":"User","login":"bob"`,
		"helper[bot]": `"__typename":"Bot","login":"helper"`, "": `"editor":null,"lastEditedAt":"`} {
		s.EditCommentAs(owner, name, id, "d", by)
		if out := who(); !strings.Contains(out, want) {
			t.Errorf("edited by %q: %s", by, out)
		}
	}
	if out := s.ask(query, map[string]any{"id": "IC_nope"}); !strings.Contains(out, "NOT_FOUND") {
		t.Errorf("an unknown comment answers %s", out)
	}
}

// ask sends a query to GraphQL as the workflow's token.
func (s *scene) ask(query string, variables any) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	check(s.t, err)
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.GraphQLURL(), bytes.NewReader(body))
	check(s.t, err)
	r.Header.Set("Authorization", "Bearer "+actions)
	resp, err := http.DefaultClient.Do(r)
	check(s.t, err)
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	check(s.t, err)
	equal(s.t, "status", resp.StatusCode, 200)
	return string(out)
}

func mustPull(t *testing.T, s *scene, number int) *github.PullRequest {
	t.Helper()
	p, _, err := s.client(actions).PullRequests.Get(s.ctx, owner, name, number)
	check(t, err)
	return p
}
