package fake_test

import (
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
		{"PUT", "/repos/alice/demo/issues/1", "", 404, "PUT /repos/alice/demo/issues/1: the route does not take this method",
			true},
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
