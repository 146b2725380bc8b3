//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

// realKey is one that the stand-in alone takes. What is looked for it has no part of it that is as long.
const realKey = "made-up-key-0123456789"

// seekKey notes all that a tool of an agent can find, and where the key is.
const seekKey = `n=made-up-key-0; n=${n}1234; { env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\0' '\n'; ` +
	`grep -rl "$n" "$HOME" "$PWD"; } > dump.txt 2>&1; true`

// carried are the real CLIs as their users point them at a proxy of their own, which is where a gateway leads.
var carried = []cli{
	{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=" + realKey}},
	{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}", "CLAUDE_CODE_OAUTH_TOKEN=" + realKey}},
	{name: "codex", model: "gpt-5.5", env: []string{"OPENAI_BASE_URL={model}/v1", "OPENAI_API_KEY=" + realKey}},
	{name: "gemini", model: "gemini-2.5-flash",
		env: []string{"GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_API_KEY=" + realKey}},
	{name: "opencode", model: "openai/gpt-5.5", env: []string{"OPENAI_BASE_URL={model}/v1", "OPENAI_API_KEY=" + realKey}},
	{name: "opencode", model: "anthropic/claude-sonnet-4-5",
		env: []string{"ANTHROPIC_BASE_URL={model}/v1", "ANTHROPIC_API_KEY=" + realKey}},
	{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}"}, files: map[string]string{
		".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"` + realKey + `","refreshToken":"r",` +
			`"expiresAt":4102444800000,` +
			`"scopes":["user:inference"],"subscriptionType":"max"}}`}},
	{name: "codex", model: "gpt-5.5", env: []string{"OPENAI_BASE_URL={model}/v1"},
		files: map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":"` + realKey + `"}`}},
	{name: "gemini", model: "gemini-2.5-flash", env: []string{"GOOGLE_GEMINI_BASE_URL={model}"},
		files: map[string]string{".gemini/.env": "GEMINI_API_KEY=" + realKey}},
	{name: "opencode", model: "openai/gpt-5.5", env: []string{"OPENAI_BASE_URL={model}/v1"},
		files: map[string]string{".local/share/opencode/auth.json": `{"openai":{"type":"api","key":"` + realKey + `"}}`}},
}

// TestRealAgentsNeverHoldTheKey: each real CLI works by the gateway, and its tools find the key nowhere.
func TestRealAgentsNeverHoldTheKey(t *testing.T) {
	t.Parallel()
	for _, c := range carried {
		t.Run(fmt.Sprint(c.name, len(c.files)), func(t *testing.T) {
			t.Parallel()
			m := model.New(model.Turn{Text: "I look.", Tools: []model.Tool{model.Bash(seekKey)}},
				model.Turn{Text: "I write.", Tools: []model.Tool{model.Write("hello.txt", "hello\n")}},
				model.Turn{Text: "Written.\n<response>DONE</response>"})
			defer m.Close()
			m.Key = realKey
			dir := project(t, nil)
			cmd, home := c.command(t, m.URL, dir, "run", "--prompt", "Create hello.txt", "--gateway", "require", "-m", "1")
			said := run(t, cmd, 0)
			dump, err := os.ReadFile(filepath.Join(dir, "dump.txt"))
			if err != nil || !strings.Contains(string(dump), "HOME=") {
				t.Errorf("nobody looked: %v\n%s", err, said)
			}
			if strings.Contains(string(dump), realKey) {
				t.Errorf("the key was found:\n%s", dump)
			}
			found, _ := exec.Command("grep", "-rl", realKey, home, dir).Output()
			for name := range strings.Lines(string(found)) {
				if c.files[strings.TrimPrefix(strings.TrimSpace(name), home+"/")] == "" {
					t.Errorf("the key is in %s", name)
				}
			}
			for name := range c.files {
				if strings.Contains(string(dump), name) {
					t.Errorf("the agent has the login %s:\n%s", name, dump)
				}
			}
			if unknown := m.Unknown(); len(unknown) > 0 || len(m.Requests()) < 3 {
				t.Errorf("%d requests, and %v", len(m.Requests()), unknown)
			}
		})
	}
}
