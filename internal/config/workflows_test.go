package config

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
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

func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	uses := regexp.MustCompile(`\buses: *([^ \n]+)`)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lint(t, file, text)
			for _, match := range uses.FindAllStringSubmatch(string(text), -1) {
				if action := match[1]; !strings.HasPrefix(action, "./") &&
					!regexp.MustCompile(`@v\d+\.\d+\.\d+$`).MatchString(action) {
					t.Errorf("%s is not pinned by a full version", action)
				}
			}
			if !strings.Contains(string(text), "timeout-minutes:") ||
				strings.Count(string(text), "actions/checkout@") != strings.Count(string(text), "persist-credentials: false") {
				t.Error("a job needs a time limit, and a checkout must not leave its token behind")
			}
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
