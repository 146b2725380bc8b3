package fake_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestProblems asks what GitHub would not understand: each must be refused and kept as a problem.
func TestProblems(t *testing.T) {
	s := newScene(t)
	s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.AddToken("other", "bob", fake.PAT)
	for _, tc := range []struct {
		method, path, body string
		status             int
		problem            string // its beginning; empty for none
		broken             bool   // whether the contract is broken too
	}{
		{"GET", "/repos/alice/demo/issues/1", "", 200, "", false},
		{"GET", "/repos/alice/demo/wishes", "", 404, "GET /repos/alice/demo/wishes: no such route", true},
		{"PUT", "/repos/alice/demo/issues/1", "", 404, "PUT /repos/alice/demo/issues/1: no such route", true},
		{"GET", "/repos/alice/other/issues/1", "", 404, "GET /repos/alice/other/issues/1: no such repository", false},
		{"GET", "/repos/bob/demo/issues/1", "", 404, "GET /repos/bob/demo/issues/1: no such repository", false},
		{"GET", "/repos/alice/demo/issues?labelz=x", "", 200, "", true},
		{"GET", "/repos/alice/demo/pulls?head=work", "", 200, "GET /repos/alice/demo/pulls: the filter head", false},
		{"POST", "/repos/alice/demo/issues/1/comments", `{"body":`, 400,
			"POST /repos/alice/demo/issues/1/comments: bad request body", true},
		{"POST", "/repos/alice/demo/issues/1/comments", `{"body":"x","colour":"red"}`, 400,
			"POST /repos/alice/demo/issues/1/comments: bad request body", false},
		{"POST", "/repos/alice/demo/issues/1/labels", `{"names":["x"]}`, 400,
			"POST /repos/alice/demo/issues/1/labels: bad request body", true},
		{"POST", "/repos/alice/demo/issues/1/comments", `{}`, 422, "", true},
		{"GET", "/../../nowhere", "", 404, "GET /nowhere: no such address", false},
	} {
		known, broken := len(s.Problems()), len(s.checker.Violations())
		r, err := http.NewRequestWithContext(s.ctx, tc.method, s.APIURL()+tc.path, strings.NewReader(tc.body))
		check(t, err)
		if strings.HasPrefix(tc.path, "/..") {
			r.URL.Path = "/nowhere"
		}
		r.Header.Set("Authorization", "token "+pat)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		check(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		call := tc.method + " " + tc.path
		equal(t, call+": status", resp.StatusCode, tc.status)
		got := s.Problems()[known:]
		if tc.problem == "" && len(got) > 0 || tc.problem != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.problem)) {
			t.Errorf("%s: problems are %q, want %q", call, got, tc.problem)
		}
		equal(t, call+": breaks the contract", len(s.checker.Violations()) > broken, tc.broken)
	}
	s.wantProblems = slices.Clone(s.Problems()) // all judged above
}

func TestUnauthorized(t *testing.T) {
	s := newScene(t)
	for _, header := range []string{"", "Bearer wrong", "Basic " + pat, "Bearer a.b.c"} {
		r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.APIURL()+"/repos/alice/demo", nil)
		check(t, err)
		r.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(r)
		check(t, err)
		_ = resp.Body.Close()
		equal(t, "status with "+header, resp.StatusCode, 401)
	}
	s.RevokeToken(pat)
	_, resp, err := s.client(pat).Repositories.Get(s.ctx, owner, name)
	if err == nil || status(resp) != 401 {
		t.Errorf("a revoked token: %v, want 401", err)
	}
}

// TestInvalid asks for what GitHub understands and refuses: 422 with the field, and no problem.
func TestInvalid(t *testing.T) {
	s := newScene(t)
	s.AddPull(owner, name, fake.Pull{Title: "p", Head: "main"})
	s.branch("work")
	c := s.client(pat)
	long := func(n int) *string { return github.String(strings.Repeat("x", n)) }
	pull := func(change func(*github.NewPullRequest)) func() error {
		return func() error {
			p := newPull("work")
			change(p)
			_, _, err := c.PullRequests.Create(s.ctx, owner, name, p)
			return err
		}
	}
	edit := func(p github.PullRequest) func() error {
		return func() error {
			_, _, err := c.PullRequests.Edit(s.ctx, owner, name, 1, &p)
			return err
		}
	}
	comment := func(body string) func() error {
		return func() error {
			_, _, err := c.Issues.CreateComment(s.ctx, owner, name, 1, &github.IssueComment{Body: &body})
			return err
		}
	}
	for what, ask := range map[string]func() error{
		"a pull with a long body": pull(func(p *github.NewPullRequest) { p.Body = long(65537) }),
		"a pull with a long name": pull(func(p *github.NewPullRequest) { p.Title = long(257) }),
		"a pull to nowhere":       pull(func(p *github.NewPullRequest) { p.Base = github.String("nope") }),
		"a long body":             edit(github.PullRequest{Body: long(65537)}),
		"a base that is nowhere":  edit(github.PullRequest{Base: &github.PullRequestBranch{Ref: github.String("nope")}}),
		"a long comment":          comment(strings.Repeat("ü", 65537)), "a blank comment": comment(" \n"),
	} {
		var refused *github.ErrorResponse
		if err := ask(); !errors.As(err, &refused) || refused.Response.StatusCode != 422 || len(refused.Errors) != 1 {
			t.Errorf("%s: %v, want 422 with one error", what, err)
		}
	}
	equal(t, "pull requests", len(s.Pulls(owner, name)), 1)
}

func TestCheckRunRefused(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	c := s.client(actions)
	_, resp, err := c.Checks.CreateCheckRun(s.ctx, owner, name,
		github.CreateCheckRunOptions{Name: "n", HeadSHA: strings.Repeat("a", 40)})
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "No commit found for SHA") {
		t.Errorf("another commit: %v, want 422", err)
	}
	equal(t, "runs", len(s.CheckRuns(owner, name, sha)), 0)
	_, resp, err = s.client(pat).Checks.CreateCheckRun(s.ctx, owner, name,
		github.CreateCheckRunOptions{Name: "n", HeadSHA: sha})
	if err == nil || status(resp) != 403 || !strings.Contains(err.Error(), "You must authenticate via a GitHub App.") {
		t.Errorf("a person's check run: %v, want 403", err)
	}
	foreign := s.AddCheckRun(owner, name, fake.CheckRun{Name: "ci", HeadSHA: sha, App: "circleci"})
	if _, resp, err := c.Checks.UpdateCheckRun(s.ctx, owner, name, foreign,
		github.UpdateCheckRunOptions{Name: "ci"}); err == nil || status(resp) != 403 {
		t.Errorf("another App's check run: %v, want 403", err)
	}
}

func TestWriteContents(t *testing.T) {
	s := newScene(t)
	s.branch("setup")
	c := s.client(actions)
	o := func(text string) *github.RepositoryContentFileOptions {
		return &github.RepositoryContentFileOptions{Message: github.String("add"), Content: []byte(text),
			Branch: github.String("setup")}
	}
	made, _, err := c.Repositories.CreateFile(s.ctx, owner, name, ".ralph/settings.json", o("{}\n"))
	check(t, err)
	equal(t, "the file", s.mustGit(s.GitDir(owner, name), "show", "setup:.ralph/settings.json"), "{}\n")
	equal(t, "the rest", s.mustGit(s.GitDir(owner, name), "show", "setup:work.txt"), "setup\n")
	equal(t, "the branch", s.BranchSHA(owner, name, "setup"), made.GetSHA())

	_, resp, err := c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", o("{1}\n"))
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "wasn't supplied") {
		t.Errorf("a file that is there, without its blob: %v, want 422", err)
	}
	again := o("{2}\n")
	again.SHA = github.String(strings.Repeat("c", 40))
	if _, resp, err = c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", again); err == nil ||
		status(resp) != 409 {
		t.Errorf("with another blob: %v, want 409", err)
	}
	again.SHA = made.Content.SHA
	_, resp, err = c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", again)
	check(t, err)
	equal(t, "status", status(resp), 200)
	elsewhere := o("x")
	elsewhere.Branch = github.String("nope")
	if _, resp, err = c.Repositories.CreateFile(s.ctx, owner, name, "x", elsewhere); err == nil || status(resp) != 404 {
		t.Errorf("a missing branch: %v, want 404", err)
	}
	s.AddLimitedToken(fake.Token{Value: "ghs_less", Kind: fake.Actions, Permissions: fake.Permissions{"contents": "write"}})
	if _, resp, err = s.client("ghs_less").Repositories.CreateFile(s.ctx, owner, name, ".github/workflows/x.yml",
		o("x")); err == nil || status(resp) != 403 {
		t.Errorf("a workflow without the permission: %v, want 403", err)
	}
}

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

// TestGraphQL asks what is not known here, and for what does not exist.
func TestGraphQL(t *testing.T) {
	s := newScene(t)
	s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main"})
	const edited = `query($owner: String!, $name: String!, $number: Int!) {
		repository(owner: $owner, name: $name) { issue(number: $number) { lastEditedAt } } }`
	const ready = `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	for _, tc := range []struct {
		query     string
		variables map[string]any
		answer    string
		problem   string // its beginning; empty for none
	}{
		{`query { viewer { login } }`, nil, `"login":"github-actions"`, ""},
		{`query { viewer { wishes } }`, nil, "INVALID", "no such operation is known here: query { viewer { wishes } }"},
		{edited, map[string]any{"owner": owner, "name": name}, "INVALID", "the variable $number has no value"},
		{edited, map[string]any{"owner": owner, "name": "nope", "number": 1}, "NOT_FOUND", "no such repository: alice/nope"},
		{edited, map[string]any{"owner": owner, "name": name, "number": 1}, "NOT_FOUND", ""}, // it is a pull request
		{ready, map[string]any{"id": "PR_nope"}, "NOT_FOUND", ""},
	} {
		if out := s.ask(tc.query, tc.variables); !strings.Contains(out, tc.answer) {
			t.Errorf("%s answers %s, want %s", tc.query, out, tc.answer)
		}
		if tc.problem != "" {
			s.wantProblems = append(s.wantProblems, "POST /graphql: "+tc.problem)
		}
	}
}
