package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// TestNeeds: the hosts that an agent may speak to in a sandbox.
func TestNeeds(t *testing.T) {
	home := t.TempDir()
	with := func(command, entry string) Options {
		return Options{Command: command, Host: Host{Parent: []string{entry}}}
	}
	for name, text := range map[string]string{
		".codex/config.toml": "# see https://docs.example\nmodel_provider = \"x\"\n[model_providers.x]\nbase_url = " +
			"\"http://127.0.0.1:8080/v1\"\n",
		".claude/settings.json":     `{"env": {"ANTHROPIC_BASE_URL": "https://gate.example/claude"}}`,
		".claude/.credentials.json": `{"url": "https://secret.example"}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what      string
		o         Options
		want, not string // a host that it may ask, and one that it may not
	}{
		{"its model", Options{Command: "claude"}, "*.anthropic.com", "api.openai.com"},
		{"by path", Options{Command: "/opt/bin/codex"}, "api.openai.com", ""},
		{"a base URL", with("claude", "ANTHROPIC_BASE_URL=http://127.0.0.1:4000"), "127.0.0.1:4000", ""},
		{"a base URL without a port", with("codex", "OPENAI_BASE_URL=https://models.example/v1"), "models.example:443", ""},
		{"a base URL of another agent", with("claude", "OPENAI_BASE_URL=https://models.example/v1"), "*.anthropic.com", "models.example:443"},
		{"any program", with("./agent.sh", "OLLAMA_HOST=localhost:11434"), "localhost:11434", "*.anthropic.com"},
		{"a flag", Options{Command: "codex", Flags: []string{"-c", `model_providers.f={name="f",base_url="http://10.0.0.1:9/v1",wire_api="responses"}`}},
			"10.0.0.1:9", ""},
		{"its settings", with("codex", "HOME="+home), "127.0.0.1:8080", "docs.example:443"},
		{"its settings, no login", with("claude", "HOME="+home), "gate.example:443", "secret.example:443"},
		{"a place of Google's", with("gemini", "GOOGLE_CLOUD_LOCATION=europe-west1"), "europe-west1-aiplatform.googleapis.com", ""},
	} {
		if got := Needs(c.o).Hosts; !slices.Contains(got, c.want) || c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%s: %v, want %s and not %s", c.what, got, c.want, c.not)
		}
	}
}

// TestNeedsOfAnotherPlace: what an agent has elsewhere than in its home is meant there.
func TestNeedsOfAnotherPlace(t *testing.T) {
	for _, f := range Needs(Options{Command: "claude",
		Host: Host{Parent: []string{"CLAUDE_CONFIG_DIR=/home/me/.config/claude"}}}).Files {
		if f.Access == sandbox.Shared && f.Path != "/home/me/.config/claude/.credentials.json" {
			t.Errorf("%+v", f)
		}
	}
	for name := range dialects {
		if d, _ := dialectOf(name); d.needs.hosts == nil || d.needs.files == nil {
			t.Errorf("nothing is known of what %s needs", name)
		}
	}
}
