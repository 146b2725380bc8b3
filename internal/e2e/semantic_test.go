//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

const semanticTask = `id: hello
title: Say hello
completion:
  outcome: hello.txt greets
  acceptance_criteria: [hello.txt says hello]
  coder:
    promise: GREETED
    verification_method: semantic
    verification_config: {check_for: "{{acceptance_criteria}}"}
`

// TestSemanticVerificationWithRealClaude: the real CLI is asked in a context of its own, without a tool but the one
// that it answers with, and its answer decides.
func TestSemanticVerificationWithRealClaude(t *testing.T) {
	t.Parallel()
	bin, ralph := installed(t, "claude"), compiledRalph(t)
	for _, c := range []struct {
		name     string
		verified bool
		code     int
		want     string
	}{
		{"met", true, 0, "SUCCESS: hello completed in 1 iteration"},
		{"not met", false, 1, "Last verification: it says nothing of the sort"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := model.New(
				model.Turn{Tools: []model.Tool{model.Write("hello.txt", "hello\n")}},
				model.Turn{Text: "<promise>GREETED</promise>"},
				model.Turn{Tools: []model.Tool{{Name: "StructuredOutput",
					Input: map[string]any{"verified": c.verified, "reason": "it says nothing of the sort"}}}},
				model.Turn{Text: "Said."},
			)
			defer m.Close()
			dir := semanticProject(t)
			cmd := exec.CommandContext(t.Context(), ralph, "run", "--task", "hello.yaml", "--agent", "claude", "-m", "1")
			cmd.Dir = dir
			cmd.Env = append(withoutWorkflow(os.Environ()), "HOME="+scratch(t), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"),
				"ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=k")
			if out := run(t, cmd, c.code); !strings.Contains(out, c.want) {
				t.Errorf("%q is missing:\n%s", c.want, out)
			}
			asked := slices.ContainsFunc(m.Requests(), func(r model.Request) bool {
				return slices.Contains(r.Tools, "StructuredOutput") && !slices.Contains(r.Tools, "Bash") &&
					!slices.Contains(r.Tools, "Write")
			})
			if !asked {
				t.Errorf("nobody asked without tools: %+v", m.Requests())
			}
		})
	}
}

// semanticProject is a repository with the task.
func semanticProject(t *testing.T) string {
	t.Helper()
	dir := scratch(t)
	for name, text := range map[string]string{"hello.yaml": semanticTask,
		".ralph/settings.json": `{"guardrails": [{"command": "test -f hello.txt"}], "review": false, "baseline": "off"}`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, exec.Command("git", "init", "-q", dir), 0)
	run(t, exec.Command("git", "-C", dir, "add", "-A"), 0)
	run(t, exec.Command("git", "-C", dir, "-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "commit", "-q", "-m",
		"begin"), 0)
	return dir
}
