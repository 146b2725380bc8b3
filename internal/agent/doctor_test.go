//go:build unix

package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// TestLook has a row for each thing that can be found out about an agent.
func TestLook(t *testing.T) {
	t.Parallel()
	const good = `echo "1.2.3 (Some Code)"`
	for name, c := range map[string]struct {
		agent, script string
		files         map[string]string // below HOME
		environ       []string
		version       string
		credential    string
		advice        string // a part of it
	}{
		"a key": {agent: "claude", script: good, environ: []string{"ANTHROPIC_API_KEY=k"},
			version: "1.2.3", credential: "key in ANTHROPIC_API_KEY"},
		"an empty login": {agent: "codex", script: good, files: map[string]string{".codex/auth.json": `{}`},
			version: "1.2.3", advice: "no credential for codex was found: set OPENAI_API_KEY, or run: codex login"},
		"gemini's settings": {agent: "gemini", script: good,
			files:   map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
			version: "1.2.3", advice: "set GEMINI_API_KEY"},
		"opencode needs none": {agent: "opencode", script: good, version: "1.2.3"},
		"a login of opencode": {agent: "opencode", script: good, environ: []string{"XDG_DATA_HOME=HOME/d"},
			files: map[string]string{"d/opencode/auth.json": `{"a": 1}`}, version: "1.2.3",
			credential: "login in ~/d/opencode/auth.json"},
		"another version": {agent: "opencode", script: "echo v0.0.176-g0123abc", version: "0.0.176-g0123abc"},
		"it cannot say": {agent: "opencode", script: "echo no; exit 4",
			advice: "opencode cannot say its version (exited, exit code 4)"},
		"much of a version":      {agent: "opencode", script: "yes 1.2.3 | head -c 10000000", version: "1.2.3"},
		"a program of one's own": {agent: "mine", script: "echo 1 > called"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.agent, c.script)
			lay(t, f.dir, c.files)
			parent := []string{"HOME=" + f.dir, "HTTPS_PROXY=http://127.0.0.1:1"}
			for _, entry := range c.environ {
				parent = append(parent, strings.ReplaceAll(entry, "HOME/", f.dir+"/"))
			}
			got := agent.Look(context.Background(), f.options(agent.Options{Host: agent.Host{Parent: parent, Keys: map[string]string{}}}))
			if got.Path != filepath.Join(f.dir, c.agent) || got.Version != c.version || got.Credential != c.credential ||
				!strings.Contains(got.Advice, c.advice) || (got.Advice == "") != (c.advice == "") {
				t.Errorf("found %+v", got)
			}
			if c.agent == "mine" {
				if _, err := os.Stat(filepath.Join(f.dir, "argv")); err == nil {
					t.Error("a program that is not known was started")
				}
				return
			}
			for _, entry := range f.env(t) {
				if strings.Contains(entry, "PROXY") || strings.Contains(entry, "_KEY") {
					t.Errorf("it was asked for its version with %s", entry)
				}
			}
		})
	}
}

// TestLookForAll: of every agent that ralph knows, it knows how to install it.
func TestLookForAll(t *testing.T) {
	t.Parallel()
	found := agent.LookForAll(context.Background(), agent.Options{Host: agent.Host{Parent: []string{"PATH=" + t.TempDir()}}})
	if len(found) != len(agent.Names()) || len(found) == 0 {
		t.Errorf("found %+v", found)
	}
	for i, f := range found {
		if f.Name != agent.Names()[i] || f.Path != "" ||
			!strings.Contains(f.Advice, "install it, or name the path of its executable (npm install -g ") {
			t.Errorf("found %+v", f)
		}
	}
}
