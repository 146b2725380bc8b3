package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

var ralphLabels = []string{"ralph", "ralph:running"}

// TestExamine has a row for each thing that stands in ralph's way, or does not.
func TestExamine(t *testing.T) {
	writes := func(s *stage) {
		s.SetActions(owner, name, fake.ActionsSettings{WorkflowPermissions: "write", CanApprovePullRequest: true})
		s.SetSecrets(owner, name, "ANTHROPIC_API_KEY", "OTHER")
		s.commit("main", workflowPath, "on: issues\n")
		for _, l := range ralphLabels {
			must[any](t)(nil, s.client(as(aliceToken)).MakeLabel(t.Context(), l, "ededed", ""))
		}
	}
	tests := []struct {
		name  string
		token string
		set   func(s *stage)
		want  string // lines of "grade what: says"
		worst Grade
	}{
		{"all is well", aliceToken, func(*stage) {},
			"ok the token: It is a classic personal access token and writes as alice.\n" +
				"ok the repository: alice/demo is public, its default branch is main.\nok permissions: The token's owner may push\n" +
				"ok labels: All of ralph's labels are there.\nok secrets: There is ANTHROPIC_API_KEY.\n" +
				"ok the workflow: " + workflowPath + " is there.\nok branch rules: Branch rules allow a pull request to main.", Warning},
		{"who may not push", "ghp_bob", func(s *stage) {
			s.SetPermission(owner, name, "bob", "read")
			s.AddToken("ghp_bob", "bob", fake.PAT)
		},
			"problem permissions: The token's owner may not push", Problem},
		{"a token that is not one", "ghp_none", func(*stage) {},
			"problem the token: asking who the token belongs to: GitHub does not accept the token", Problem},
		{"no such repository", aliceToken, nil, "problem the repository: reading alice/none: GitHub does not find it",
			Problem},
		{"Actions are off", aliceToken, func(s *stage) { s.SetActions(owner, name, fake.ActionsSettings{Disabled: true}) },
			"problem GitHub Actions: Actions are off", Problem},
		{"some Actions are off", aliceToken,
			func(s *stage) { s.SetActions(owner, name, fake.ActionsSettings{AllowedActions: "local_only"}) },
			"warning GitHub Actions: Only local_only actions may run", Warning},
		{"Actions may not open pull requests", aliceToken,
			func(s *stage) { s.SetActions(owner, name, fake.ActionsSettings{}) },
			"warning the job's own token: It may not open pull requests.", Warning},
		{"the job's own token may not see settings", jobToken + "_less", func(s *stage) {
			s.AddLimitedToken(fake.Token{Value: jobToken + "_less", Kind: fake.Actions,
				Permissions: fake.Permissions{"contents": "write", "issues": "write"}})
		}, "unknown GitHub Actions: The token may not see it.", Warning},
		{"secrets of the organization", aliceToken,
			func(s *stage) { s.SetSecrets(owner, name); s.SetOrganizationSecrets(owner, name, "OPENAI_API_KEY") },
			"ok secrets: There is OPENAI_API_KEY.", Warning},
		{"no secrets", aliceToken, func(s *stage) { s.SetSecrets(owner, name, "OTHER") },
			"warning secrets: No API key found: add one of ANTHROPIC_API_KEY", Warning},
		{"signatures", aliceToken, func(s *stage) {
			s.ProtectBranch(owner, name, "main", fake.Protection{RequireSignature: true})
		},
			"warning branch rules: Commits on main must be signed.", Warning},
		{"checks that the job's token does not start", jobToken, func(s *stage) {
			s.ProtectBranch(owner, name, "main", fake.Protection{RequiredChecks: []string{"test"}})
		}, "warning branch rules: A pull request to main takes the checks test, which do not start", Warning},
		{"rulesets", aliceToken, func(s *stage) {
			s.SetRules(owner, name, "main", "required_signatures")
		}, "warning branch rules: Commits on main must be signed.", Warning},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			writes(s)
			c := s.client(as(tt.token))
			if tt.set == nil {
				c.o.Repo.Name = "none"
				defer func() { s.known = "no such repository" }()
			} else {
				tt.set(s)
			}
			r := c.Examine(t.Context(), ralphLabels, "")
			var all []string
			for _, f := range r.Facts {
				all = append(all, fmt.Sprintf("%s %s: %s", f.Grade, f.What, f.Says))
			}
			for want := range strings.SplitSeq(tt.want, "\n") {
				if !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, want) }) || r.worst() != tt.worst {
					t.Errorf("%q is not there, or the worst is %s:\n%s", want, r.worst(), strings.Join(all, "\n"))
				}
			}
		})
	}
}

// TestExamineWhatIsMissing: labels are named so that they can be made, and a workflow is also known by what it is
// called or says.
func TestExamineWhatIsMissing(t *testing.T) {
	var files []string
	s := newStage(t, listing(".github/workflows", &files))
	must[any](t)(nil, s.client().MakeLabel(t.Context(), "Ralph", "ededed", ""))
	c := s.client(as(aliceToken))
	for _, tt := range []struct {
		files []string
		grade Grade
		says  string
	}{
		{nil, Problem, "No workflow on main runs ralph."},
		{[]string{"ci.yml", "notes.txt"}, Problem, "No workflow on main runs ralph."},
		{[]string{"ci.yml", "bot.yml"}, OK, ".github/workflows/bot.yml names ralph."},
		{[]string{"ci.yml", "My-Ralph.yaml"}, OK, ".github/workflows/My-Ralph.yaml names ralph."},
	} {
		files = tt.files
		for _, f := range files {
			s.commit("main", ".github/workflows/"+f,
				map[bool]string{true: "uses: ralph-loop/ralph@v1\n", false: "on: push\n"}[f == "bot.yml"])
		}
		r := c.Examine(t.Context(), ralphLabels, "main")
		if !slices.Equal(r.Labels, []string{"ralph:running"}) || !r.says(tt.grade, tt.says) ||
			!r.says(Warning, "There is no label ralph:running.") {
			t.Errorf("%v: %+v", tt.files, r)
		}
	}
	for _, call := range s.Calls()[1:] {
		if call.Method != "GET" {
			t.Errorf("an examination wrote: %s", call)
		}
	}
}

// listing lets the stand-in list a directory, which it cannot.
func listing(dir string, files *[]string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/contents/"+dir) {
				next.ServeHTTP(w, r)
				return
			}
			list := []map[string]string{}
			for _, f := range *files {
				list = append(list, map[string]string{"type": "file", "name": f, "path": dir + "/" + f})
			}
			_ = json.NewEncoder(w).Encode(list) // the client may be gone
		})
	}
}

func (r Report) says(g Grade, part string) bool {
	return slices.ContainsFunc(r.Facts, func(f Fact) bool { return f.Grade == g && strings.Contains(f.Says, part) })
}

// TestExamineTellsOfEveryMishap: whatever goes wrong is a fact on one line.
func TestExamineTellsOfEveryMishap(t *testing.T) {
	s := bareStage(t)
	for _, m := range mishaps {
		for nth := 1; nth <= 10; nth++ {
			c := s.client(as(aliceToken))
			c.wire.next = &trouble{mishap: m, nth: nth, always: true, next: c.wire.next}
			r := c.Examine(t.Context(), ralphLabels, "main")
			for _, f := range r.Facts {
				if strings.Contains(f.Says+f.Advice, "\n") || strings.Contains(f.Says, aliceToken) ||
					strings.Contains(f.Says, "<html") || f.Says == "" {
					t.Errorf("%s at call %d: %+v", m.name, nth, f)
				}
			}
			if r.worst() == OK {
				t.Errorf("%s at call %d: all is well", m.name, nth)
			}
		}
	}
}

// worst is the gravest grade of all: problem, then warning, then unknown.
func (r Report) worst() Grade {
	for _, g := range []Grade{Problem, Warning, Unknown} {
		if r.says(g, "") {
			return g
		}
	}
	return OK
}
