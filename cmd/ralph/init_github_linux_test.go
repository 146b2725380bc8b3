package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestInitGitHubAsks: nothing is written before somebody has said yes, and nothing at all after anything else.
func TestInitGitHubAsks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys   string
		code   int
		says   string
		writes bool
	}{
		{"y\r", 0, "Opened pull request #1: ", true},
		{"n\r", 0, "Nothing was done.\n", false},
		{"\r", 0, "Nothing was done.\n", false},
		{"\x04", 130, "ralph: aborted; nothing is written\n", false},
	} {
		hub := newHub(t)
		if _, err := hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{"README.md": "demo\n"}); err != nil {
			t.Fatal(err)
		}
		hub.AddToken(aliceToken, "alice", fake.PAT)
		p := begin(t, "init", "--github", "--repo", "alice/demo")
		p.env = append(append(p.env, addresses(hub)...), "GITHUB_TOKEN="+aliceToken)
		p.asks()
		p.sees("Do it? (y/N): ")
		writes := func() (n int) {
			for _, c := range hub.Calls() {
				if c.Write {
					n++
				}
			}
			return n
		}
		if n := writes(); n > 0 {
			t.Errorf("%q: %d calls write before the answer", tt.keys, n)
		}
		p.types(tt.keys)
		if p.ends(tt.code); !strings.Contains(p.stderr.String(), tt.says) || writes() > 0 != tt.writes {
			t.Errorf("%q: %d calls write, and the screen is:\n%s", tt.keys, writes(), p.stderr.String())
		}
	}
}
