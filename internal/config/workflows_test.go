package config

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

// lint runs actionlint on a workflow as if it lay in this repository.
func lint(t *testing.T, name string, text []byte) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject("../..")
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint(name, text, project)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// TestWorkflows: GitHub understands them. What they must not let anybody do is held by TestWorkflowsLetNobodyIn.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lint(t, file, text)
		})
	}
}

// TestActionsCanBeUsed has actionlint read action.yml and host/action.yml, which it does only through a workflow that
// uses them.
func TestActionsCanBeUsed(t *testing.T) {
	for _, action := range []string{"./", "./host"} {
		text := "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - id: ralph\n        uses: " + action +
			"\n        with:\n          issue: '1'\n" +
			"      - run: echo \"$URL\"\n        env:\n          URL: ${{ steps.ralph.outputs.pr_url }}\n"
		lint(t, "use.yml", []byte(text))
	}
}

// TestWorkflowOfDocs: what docs/github.md shows is what ralph init --github proposes, and GitHub understands it.
func TestWorkflowOfDocs(t *testing.T) {
	shown, err := os.ReadFile("../../docs/github.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), "```yaml\n"+Workflow+"```") {
		t.Error("docs/github.md shows another workflow than internal/config/workflow.yml")
	}
	lint(t, "ralph.yml", []byte(Workflow))
}
