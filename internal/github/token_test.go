package github

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// TestTokenNotes has a row for each kind of token: what it will not do, and what readers of a pull request must know of
// that.
func TestTokenNotes(t *testing.T) {
	old := strings.Repeat("0a", 20)
	tests := []struct {
		name, token string
		self        string
		kind        TokenKind
		onPull      string   // a part of TokenNote; empty for none
		all         []string // parts of TokenNotes
		none        string   // what is in no note
	}{
		{"the job's own", jobToken, "github-actions[bot]", JobToken, "does not start other workflows",
			[]string{"cannot push changes to files under .github/workflows"}, "check runs"},
		{"an App's, made by the workflow", "ghs_app", "helper[bot]", InstallationToken, "", nil, "workflows"},
		{"a classic one", "ghp_full", "alice", ClassicToken, "", []string{"cannot write check runs"}, "scope"},
		{"a classic one without workflow", "ghp_repo", "alice", ClassicToken, "",
			[]string{"cannot write check runs", "Without the scope workflow"}, "can write nothing"},
		{"a classic one that may little", "ghp_gist", "alice", ClassicToken, "",
			[]string{"has the scopes gist: without repo", "Without the scope workflow"}, "does not start"},
		{"an old classic one", old, "alice", ClassicToken, "", []string{"Without the scope workflow"}, "can write nothing"},
		{"a fine-grained one", "github_pat_x", "alice", FineToken, "", []string{"cannot write check runs"}, "scope"},
		{"a person's through an App", "ghu_x", "alice", UserToken, "", []string{"cannot write check runs"}, "scope"},
		{"one that only GitHub knows", "odd", "alice", ClassicToken, "", []string{"Without the scope workflow"},
			"can write nothing"},
	}
	s := newStage(t)
	for token, scopes := range map[string][]string{"ghp_full": {"repo", "workflow"}, "ghp_repo": {"repo"},
		"ghp_gist": {"gist"}, old: {"public_repo"}, "odd": {"repo"}} {
		s.AddLimitedToken(fake.Token{Value: token, Login: "alice", Kind: fake.PAT, Scopes: scopes})
	}
	for _, token := range []string{"github_pat_x", "ghu_x"} {
		s.AddToken(token, "alice", fake.PAT)
	}
	s.AddToken("ghs_app", "helper[bot]", fake.Installation)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.client(as(tt.token), func(o *Options) { o.JobToken = jobToken })
			if _, _, err := c.Gather(t.Context(),
				event.Event{Kind: event.Scheduled, Repo: event.Repo{Owner: owner, Name: name, DefaultBranch: "main"}}); err != nil {
				t.Fatal(err)
			}
			if c.Self() != tt.self || c.kind != tt.kind {
				t.Errorf("it is %s of %s, want %s of %s", c.kind, c.Self(), tt.kind, tt.self)
			}
			if note := c.TokenNote(); (note == "") != (tt.onPull == "") || !strings.Contains(note, tt.onPull) ||
				len(note) > 400 {
				t.Errorf("on a pull request: %q, want %q", note, tt.onPull)
			}
			notes := strings.Join(c.TokenNotes(), "\n")
			for _, want := range tt.all {
				if !strings.Contains(notes, want) {
					t.Errorf("%q is not in %q", want, notes)
				}
			}
			if strings.Contains(notes, tt.none) {
				t.Errorf("%q is in %q", tt.none, notes)
			}
		})
	}
}
