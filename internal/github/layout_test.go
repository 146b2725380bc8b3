package github

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// TestLayouts: an Enterprise Server has its API below /api, an API's own host has it at the root; git and pages are
// elsewhere (B-31). The main calls go to the right place in both, GraphQL also when nobody says where it is.
func TestLayouts(t *testing.T) {
	for layout, apart := range map[string]bool{"/api/v3": false, "api.": true} {
		for who, change := range map[string]func(*stage) func(*Options){
			"job":    func(*stage) func(*Options) { return as(jobToken) },
			"person": func(*stage) func(*Options) { return as(aliceToken) },
			"app":    func(s *stage) func(*Options) { return s.app(nil) },
		} {
			t.Run(layout+" "+who, func(t *testing.T) {
				s := stageOf(t, fake.Options{APIHost: apart})
				c := s.client(change(s), func(o *Options) {
					if who == "person" {
						o.GraphQLURL = ""
					}
				})
				s.allOver(c)
			})
		}
	}
}

// allOver makes one call of each kind.
func (s *stage) allOver(c *Client) {
	ctx, p := s.t.Context(), s.place()
	ev := event.Event{Kind: event.Dispatched, Sender: event.Actor{Login: "alice"}, Ask: event.DispatchRequest{Issue: p.issue}}
	for what, do := range map[string]func() error{
		"gathering": func() error { _, _, err := c.Gather(ctx, ev); return err },
		"comment":   func() error { return errOf(c.Comment(ctx, p.issue, "x", false)) },
		"graphql":   func() error { return errOf(c.Threads(ctx, p.pull)) },
		"reply":     func() error { return errOf(c.Reply(ctx, p.pull, p.first, "x", false)) },
		"check run": func() error { return errOf(c.PutCheckRun(ctx, s.ralphRun(1), false)) },
		"ci":        func() error { return errOf(c.Builds(ctx, s.sha, "ralph", 0)) },
		"token":     func() error { return errOf(c.Token(ctx)) },
		"file":      func() error { return errOf(c.WriteFileByPull(ctx, "w", "f.txt", []byte("x"), "Add f", "B")) },
		"log": func() error {
			text, _, err := c.BuildLog(ctx, Build{Name: "test", CheckRun: p.job, JobID: p.job})
			if text == "" {
				s.t.Error("the log was not found")
			}
			return err
		},
	} {
		if err := do(); err != nil {
			s.t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAddresses has a row for where REST and GraphQL are, and for who signs the tokens of jobs there.
func TestAddresses(t *testing.T) {
	const public, signs = "https://api.github.com", "https://token.actions.githubusercontent.com"
	const ghe, gheSigns = "https://ghe.example/api/v3", "https://ghe.example/_services/token"
	tests := []struct{ api, graphql, root, ask, issuer string }{
		{"", "", public, public + "/graphql", signs},
		{public, "", public, public + "/graphql", signs},
		{ghe, "", ghe, "https://ghe.example/api/graphql", gheSigns},
		{ghe + "/", "", ghe, "https://ghe.example/api/graphql", gheSigns},
		{"https://api.acme.ghe.com", "", "https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql",
			"https://token.actions.acme.ghe.com"},
		{ghe, "https://ghe.example/own/graphql", ghe, "https://ghe.example/own/graphql", gheSigns},
	}
	for _, tt := range tests {
		o := Options{Server: Server{APIURL: tt.api}, GraphQLURL: tt.graphql}
		if rootOf(o.APIURL) != tt.root || o.graphqlURL() != tt.ask || o.jobIssuer() != tt.issuer {
			t.Errorf("%q, %q: REST at %s, GraphQL at %s, jobs by %s", tt.api, tt.graphql, rootOf(o.APIURL), o.graphqlURL(),
				o.jobIssuer())
		}
	}
}
