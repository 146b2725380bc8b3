package fake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

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
		{"POST", "/repos/alice/demo/issues/1/comments", `{"body":"x","color":"red"}`, 400,
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
