//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

// cli is a real agent CLI and what its user has set to point it at another model: variables, and files in HOME, with
// {model} for the model's address.
type cli struct {
	name, model string
	env         []string
	files       map[string]string
}

var clis = []cli{
	{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=k"}},
	{name: "codex", model: "gpt-5.5", env: []string{"OPENAI_API_KEY=k"}, files: map[string]string{
		".codex/config.toml": "model_provider = \"test\"\n[model_providers.test]\nname = \"test\"\nbase_url = " +
			"\"{model}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n",
	}},
	{name: "gemini", model: "gemini-2.5-flash", env: []string{"GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_API_KEY=k"},
		files: map[string]string{
			".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`,
		}},
	{name: "opencode", model: "test/m", env: []string{"OPENAI_API_KEY=k"}, files: map[string]string{
		".config/opencode/opencode.json": `{"provider":{"test":{"npm":"@ai-sdk/openai-compatible","name":"test","models":{"m":{}},
			"options":{"baseURL":"{model}/v1","apiKey":"{env:OPENAI_API_KEY}"}}}}`,
	}},
}

// TestPromptRunWithRealAgents gives ralph a prompt on the command line, with each agent as its user has it.
func TestPromptRunWithRealAgents(t *testing.T) {
	t.Parallel()
	for _, c := range clis {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ralph := compiledRalph(t)
			bin := installed(t, c.name)
			m := model.New(model.Scenario("ok")...)
			defer m.Close()
			m.Key = "k"
			home, dir := scratch(t), scratch(t)
			for path, text := range c.files {
				path = filepath.Join(home, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "{model}", m.URL)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run(t, exec.Command("git", "init", "-q", dir), 0)
			run(t, exec.Command("git", "-C", dir, "-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "commit", "-q",
				"--allow-empty", "-m", "begin"), 0)

			args := []string{"run", "--prompt", "Create hello.txt", "--agent", c.name, "--json"}
			if c.model != "" {
				args = append(args, "--model", c.model)
			}
			cmd := exec.CommandContext(t.Context(), ralph, args...)
			cmd.Dir = dir
			cmd.Env = append(withoutWorkflow(os.Environ()), "HOME="+home, "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
			for _, pair := range c.env {
				cmd.Env = append(cmd.Env, strings.ReplaceAll(pair, "{model}", m.URL))
			}
			var told strings.Builder
			cmd.Stderr = &told
			out, err := cmd.Output()

			var result struct {
				Outcome    string
				Iterations int
				Input      int `json:"input_tokens"`
			}
			if err := json.Unmarshal(out, &result); err != nil {
				t.Errorf("the outcome is no JSON: %v", err)
			}
			if err != nil || result.Outcome != "done" || result.Iterations != 1 || result.Input == 0 {
				t.Errorf("%v: %s\n%s", err, out, told.String())
			}
			if got, err := os.ReadFile(filepath.Join(dir, "hello.txt")); string(got) != "hello\n" {
				t.Errorf("hello.txt = %q, %v", got, err)
			}
			if unknown := m.Unknown(); len(unknown) > 0 {
				t.Errorf("the model was asked for %v", unknown)
			}
		})
	}
}

// installed is where a real CLI is, or the test is not run.
func installed(t *testing.T, name string) string {
	t.Helper()
	install := exec.Command("sh", "../../testdata/install-agents.sh", name)
	var said strings.Builder
	install.Stderr = &said
	out, err := install.Output()
	if err != nil {
		left := fmt.Sprintf("not run: the real %s cannot be had: %v\n%s", name, err, said.String())
		if slices.Contains(strings.Fields(os.Getenv("CI_E2E_AGENTS")), name) {
			t.Fatal(left)
		}
		t.Skip(left)
	}
	return strings.TrimSpace(string(out))
}

// scratch is a fresh directory outside of the system's temporary one, under which codex makes no sandbox.
func scratch(t *testing.T) string {
	t.Helper()
	tools, err := filepath.Abs("../../.tools")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(tools, "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
