package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// TestNeeds: the hosts that an agent may speak to in a sandbox.
func TestNeeds(t *testing.T) {
	home := t.TempDir()
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
		what string
		o    Options
		name string
		want []string
		not  []string
	}{
		{"its model", Options{Command: "claude"}, "claude", []string{"*.anthropic.com"}, []string{"api.openai.com"}},
		{"by path", Options{Command: "/opt/bin/codex"}, "codex", []string{"api.openai.com"}, nil},
		{"a base URL", Options{Command: "claude", Host: Host{Parent: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:4000"}}}, "claude",
			[]string{"127.0.0.1:4000"}, nil},
		{"a base URL without a port", Options{Command: "codex",
			Host: Host{Parent: []string{"OPENAI_BASE_URL=https://models.example/v1"}}}, "codex", []string{"models.example:443"}, nil},
		{"a base URL of another agent",
			Options{Command: "claude", Host: Host{Parent: []string{"OPENAI_BASE_URL=https://models.example/v1"}}}, "claude", nil,
			[]string{"models.example:443"}},
		{"any program", Options{Command: "./agent.sh",
			Host: Host{Parent: []string{"OPENAI_BASE_URL=https://models.example/v1", "OLLAMA_HOST=localhost:11434"}}}, "",
			[]string{"models.example:443", "localhost:11434"}, []string{"*.anthropic.com"}},
		{"a flag", Options{Command: "codex",
			Flags: []string{"-c", `model_providers.f={name="f",base_url="http://10.0.0.1:9/v1",wire_api="responses"}`}}, "codex",
			[]string{"10.0.0.1:9"}, nil},
		{"its settings", Options{Command: "codex", Host: Host{Parent: []string{"HOME=" + home}}}, "codex", []string{"127.0.0.1:8080"},
			[]string{"docs.example:443"}},
		{"its settings, no login", Options{Command: "claude", Host: Host{Parent: []string{"HOME=" + home}}}, "claude",
			[]string{"gate.example:443"}, []string{"secret.example:443"}},
		{"a place of Google's", Options{Command: "gemini", Host: Host{Parent: []string{"GOOGLE_CLOUD_LOCATION=europe-west1"}}}, "gemini",
			[]string{"europe-west1-aiplatform.googleapis.com"}, nil},
	} {
		got := Needs(c.o)
		if got.Name != c.name {
			t.Errorf("%s: %q", c.what, got.Name)
		}
		for _, host := range c.want {
			if !slices.Contains(got.Hosts, host) {
				t.Errorf("%s: %v lacks %s", c.what, got.Hosts, host)
			}
		}
		for _, host := range c.not {
			if slices.Contains(got.Hosts, host) {
				t.Errorf("%s: %v has %s", c.what, got.Hosts, host)
			}
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

type noBox struct{ proc.Box }
