package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const goodLabel = `{"id":1,"node_id":"L","url":"http://x/l","name":"ralph","color":"ededed","default":false,"description":null}`

// TestChecker holds single requests and answers against the description, good ones and broken ones.
func TestChecker(t *testing.T) {
	for _, tc := range []struct {
		name, method, url, body string
		status                  int
		answer                  string
		want                    string // in the only violation; empty for none
	}{
		{"a good call", "GET", "/api/v3/repos/a/b/labels/ralph", "", 200, goodLabel, ""},
		{"GraphQL", "POST", "/api/graphql", "{}", 200, "{}", ""},
		{"git", "GET", "/a/b.git/info/refs?service=git-upload-pack", "", 200, "", ""},
		{"an unknown route", "GET", "/api/v3/repos/a/b/wishes", "", 200, "{}", "no such operation"},
		{"an unknown method", "PUT", "/api/v3/repos/a/b/labels/ralph", "", 200, "{}", "no such operation"},
		{"an unknown query key", "GET", "/api/v3/repos/a/b/labels/ralph?color=red", "", 200, goodLabel, "query key color"},
		{"a query value out of the enumeration", "GET", "/api/v3/repos/a/b/issues?state=ajar", "", 200, "[]", "state"},
		{"a missing field", "POST", "/api/v3/repos/a/b/labels", `{"color":"ededed"}`, 201, goodLabel, "name"},
		{"a wrong type", "POST", "/api/v3/repos/a/b/labels", `{"name":7}`, 201, goodLabel, "/name: value must be a string"},
		{"a body where none belongs", "GET", "/api/v3/repos/a/b/labels/ralph", `{}`, 200, goodLabel, "none is declared"},
		{"a missing body", "POST", "/api/v3/repos/a/b/labels", ``, 201, goodLabel, "required"},
		{"a bare list of labels", "POST", "/api/v3/repos/a/b/issues/1/labels", `["ralph"]`, 200, "[" + goodLabel + "]", ""},
		{"an answer without a field that no one reads", "GET", "/api/v3/repos/a/b/labels/ralph", "", 200,
			strings.Replace(goodLabel, `"color":"ededed",`, "", 1), ""},
		{"an answer of a wrong type", "GET", "/api/v3/repos/a/b/labels/ralph", "", 200,
			strings.Replace(goodLabel, `"id":1`, `"id":"1"`, 1), "answer 200: /id"},
		{"an answer with an undeclared good status", "GET", "/api/v3/repos/a/b/labels/ralph", "", 202, goodLabel,
			"status 202"},
		{"an answer with an undeclared bad status", "GET", "/api/v3/repos/a/b/labels/ralph", "", 502, "oops", ""},
		{"a declared error of a wrong shape", "POST", "/api/v3/repos/a/b/labels", `{"name":"x"}`, 422,
			`{"message":3,"documentation_url":"x"}`, "answer 422: /message"},
		{"a slash in a branch", "GET", "/api/v3/repos/a/b/git/ref/heads/ralph/issue-1", "", 404, `{}`, ""},
		{"an escaped slash in a branch", "GET", "/api/v3/repos/a/b/branches/ralph%2Fissue-1", "", 404, `{}`, ""},
		{"ghinstallation's null", "POST", "/api/v3/app/installations/1/access_tokens", "null", 201,
			`{"token":"t","expires_at":"2030-01-01T00:00:00Z"}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Load()
			if err != nil {
				t.Fatal(err)
			}
			server := c.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != tc.body {
					t.Errorf("the body arrived as %q, %v", got, err)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.answer)
			}))
			r := httptest.NewRequest(tc.method, tc.url, strings.NewReader(tc.body))
			if tc.body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			w := httptest.NewRecorder()
			server.ServeHTTP(w, r)
			if w.Code != tc.status || w.Body.String() != tc.answer {
				t.Errorf("the answer came out as %d %q", w.Code, w.Body)
			}
			got := c.Violations()
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("violations without cause: %q", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
				t.Errorf("violations are %q, want one with %q", got, tc.want)
			}
		})
	}
}
