package fake_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// send asks with a token, for any status; the message is the answer's.
func (s *scene) send(token, method, path, body string) (resp *http.Response, message string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.ctx, method, s.APIURL()+path, strings.NewReader(body))
	check(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err = http.DefaultClient.Do(r)
	check(s.t, err)
	defer resp.Body.Close()
	var raw bytes.Buffer
	_, err = raw.ReadFrom(resp.Body)
	check(s.t, err)
	return resp, raw.String()
}

// TestLimitedTokens writes with tokens that may not, and reads.
func TestLimitedTokens(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	s.AddIssue(owner, name, fake.Issue{Title: "t"})
	read := fake.Permissions{"contents": "read", "issues": "read"}
	for _, token := range []fake.Token{
		{Value: "job", Kind: fake.Actions, Permissions: read},
		{Value: "fine", Login: owner, Kind: fake.PAT, Permissions: read},
		{Value: "app", Login: "ralph[bot]", Kind: fake.Installation, Permissions: read},
		{Value: "pulls", Kind: fake.Actions, Permissions: fake.Permissions{"pull_requests": "write"}},
		{Value: "classic", Login: owner, Kind: fake.PAT, Scopes: []string{"read:org"}},
		{Value: "whole", Login: owner, Kind: fake.PAT, Scopes: []string{"repo", "workflow"}},
	} {
		s.AddLimitedToken(token)
	}
	const comment = "/repos/alice/demo/issues/1/comments"
	for _, tc := range []struct {
		token, method, path, body string
		status                    int
		message                   string
		header, value             string
	}{
		{"job", "GET", "/repos/alice/demo/issues/1", "", 200, "", "X-Accepted-GitHub-Permissions",
			"issues=read; pull_requests=read"},
		{"job", "POST", comment, `{"body":"x"}`, 403, "Resource not accessible by integration",
			"X-Accepted-GitHub-Permissions", "issues=write; pull_requests=write"},
		{"app", "POST", comment, `{"body":"x"}`, 403, "Resource not accessible by integration", "", ""},
		{"fine", "POST", comment, `{"body":"x"}`, 403, "Resource not accessible by personal access token", "", ""},
		{"pulls", "POST", comment, `{"body":"x"}`, 201, "", "", ""},
		{"job", "POST", "/repos/alice/demo/statuses/" + sha, `{"state":"success"}`, 403,
			"Resource not accessible by integration", "X-Accepted-GitHub-Permissions", "statuses=write"},
		{"job", "GET", "/repos/alice/demo/actions/secrets", "", 403, "Resource not accessible by integration",
			"X-Accepted-GitHub-Permissions", "secrets=read"},
		{"classic", "GET", "/repos/alice/demo/issues/1", "", 200, "", "X-OAuth-Scopes", "read:org"},
		{"classic", "POST", comment, `{"body":"x"}`, 404, "Not Found", "X-Accepted-OAuth-Scopes", "public_repo, repo"},
		{"whole", "POST", comment, `{"body":"x"}`, 201, "", "X-OAuth-Scopes", "repo, workflow"},
		{"fine", "POST", "/repos/alice/demo/check-runs", `{"name":"n","head_sha":"` + sha + `"}`, 403,
			"Resource not accessible by personal access token", "", ""},
	} {
		resp, message := s.send(tc.token, tc.method, tc.path, tc.body)
		what := fmt.Sprintf("%s: %s %s", tc.token, tc.method, tc.path)
		equal(t, what, resp.StatusCode, tc.status)
		if !strings.Contains(message, tc.message) {
			t.Errorf("%s answers %s, want %q", what, message, tc.message)
		}
		if tc.header != "" {
			equal(t, what+": "+tc.header, resp.Header.Get(tc.header), tc.value)
		}
	}
	s.SetPrivate(owner, name, true)
	resp, _ := s.send("pulls", "GET", "/repos/alice/demo/contents/README.md", "")
	equal(t, "a private file without the permission", resp.StatusCode, 403)
	resp, _ = s.send("job", "GET", "/repos/alice/demo/contents/README.md", "")
	equal(t, "and with it", resp.StatusCode, 200)
}

func TestLimitedPush(t *testing.T) {
	s := newScene(t)
	s.AddLimitedToken(fake.Token{Value: "less", Kind: fake.Actions, Permissions: fake.Permissions{"contents": "read"}})
	dir := t.TempDir()
	s.mustGit(dir, "clone", "--quiet", s.withToken("less"), "clone")
	out, err := s.git(dir+"/clone", "push", "origin", "HEAD:refs/heads/x")
	if err == nil || !strings.Contains(out, "403") ||
		!strings.Contains(out, "Permission to alice/demo.git denied to github-actions[bot].") {
		t.Errorf("a push without contents=write: %v\n%s", err, out)
	}
}

// TestWrites tells reading from writing in the log of calls, and lets a fault meet writes alone.
func TestWrites(t *testing.T) {
	s := newScene(t)
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main", Draft: true})
	c := s.client(actions)
	_, _, err := c.Issues.Get(s.ctx, owner, name, n)
	check(t, err)
	_, _, err = c.Issues.CreateComment(s.ctx, owner, name, n, &github.IssueComment{Body: github.String("x")})
	check(t, err)
	s.ask(`query { viewer { login } }`, nil)
	s.ask("\n mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }",
		map[string]any{"id": s.Pulls(owner, name)[0].NodeID})
	dir := t.TempDir()
	s.mustGit(dir, "clone", "--quiet", s.withToken(actions), "clone")
	s.mustGit(dir+"/clone", "push", "--quiet", "origin", "HEAD:refs/heads/x")
	var log []string
	for _, call := range append(s.Calls(), s.GitCalls()...) {
		if call.Write {
			log = append(log, call.Method+" "+call.Path)
		}
	}
	equal(t, "writes", strings.Join(log, ", "),
		"POST /repos/alice/demo/issues/1/comments, POST /graphql, POST /alice/demo.git/git-receive-pack")

	s.Fail(fake.Fault{Write: true, Nth: 2, Status: 409})
	for i, want := range []int{200, 201, 200, 409} {
		resp, message := s.send(actions, map[bool]string{true: "GET", false: "POST"}[i%2 == 0],
			"/repos/alice/demo/issues/1/comments", map[bool]string{false: `{"body":"x"}`}[i%2 == 0])
		equal(t, fmt.Sprintf("call %d", i+1), resp.StatusCode, want)
		if want == 409 && !strings.Contains(message, "but expected") {
			t.Errorf("409 says %s", message)
		}
	}
	s.Fail(fake.Fault{Status: 422, Message: "No commit found for SHA: x"})
	if _, message := s.send(actions, "GET", "/repos/alice/demo/issues/1", ""); !strings.Contains(message,
		"No commit found for SHA: x") {
		t.Errorf("a message of one's own came as %s", message)
	}
}

// TestThen looks at the state between what was done and the answer that never comes.
func TestThen(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	seen := make(chan int, 1)
	s.Fail(fake.Fault{Write: true, Then: func() { seen <- len(s.Comments(owner, name, n)) }})
	_, _, err := s.client(actions).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("x")})
	if err == nil {
		t.Error("the answer came")
	}
	equal(t, "comments in between", <-seen, 1)
}
