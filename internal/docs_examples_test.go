package internal_test

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestExampleSettingsLoad: every block of JSON in these documents is settings.
func TestExampleSettingsLoad(t *testing.T) {
	for _, file := range []string{"../README.md", "../docs/settings.md", "../docs/checks.md", "../docs/tasks.md"} {
		examples := fenced(document(t, file), "json")
		if len(examples) == 0 {
			t.Errorf("%s has no example", file)
		}
		for _, example := range examples {
			settings, err := config.Load(config.Layer{Name: "the example", JSON: []byte(example)})
			if err == nil && len(settings.Completion) > 0 {
				_, err = task.ParseCompletion("the example", settings.Completion)
			}
			if err != nil {
				t.Errorf("%s: %v:\n%s", file, err, example)
			}
		}
	}
}

// TestExamplesParse: what is called JSON or YAML is, and what is said in an issue is understood.
func TestExamplesParse(t *testing.T) {
	for _, file := range documents {
		text := document(t, file)
		for _, example := range fenced(text, "json") {
			if !json.Valid([]byte(example)) {
				t.Errorf("%s: no JSON:\n%s", file, example)
			}
		}
		for _, example := range fenced(text, "yaml") {
			var value any
			if err := yaml.Unmarshal([]byte(example), &value); err != nil {
				t.Errorf("%s: no YAML: %v\n%s", file, err, example)
			}
		}
		for _, example := range issues.FindAllStringSubmatch(text, -1) {
			if read, err := task.FromFile(file, "# T\n\n"+example[1]); err != nil || read.Completion == nil ||
				len(read.Completion.Acceptance) == 0 {
				t.Errorf("%s: the issue says %+v, %v:\n%s", file, read.Completion, err, example[1])
			}
		}
	}
	if !issues.MatchString(document(t, "../docs/tasks.md")) {
		t.Error("docs/tasks.md shows no issue with criteria")
	}
}

// issues matches an example of an issue: a block that begins with its criteria.
var issues = regexp.MustCompile("(?ms)^````markdown\n(## Acceptance criteria\n.*?)^````$")

// TestWorkflowsCanBeUsed has actionlint read the short workflow of README, that of docs/github.md, and the steps of the
// host variant in their place, as if both actions were those of this repository: it knows their inputs then.
func TestWorkflowsCanBeUsed(t *testing.T) {
	short, blocks := fenced(document(t, "../README.md"), "yaml"), fenced(document(t, "../docs/github.md"), "yaml")
	if len(short) != 1 || len(blocks) != 2 {
		t.Fatalf("README.md has %d yaml blocks, want the short workflow; docs/github.md has %d, want the workflow and "+
			"the host variant", len(short), len(blocks))
	}
	last := strings.LastIndex(blocks[0], "    steps:\n") // those of the job that works, not of the one that looks
	if last < 0 || !strings.Contains(blocks[0], "uses: ralph-loop/ralph@") ||
		!strings.Contains(blocks[1], "uses: ralph-loop/ralph/host@") {
		t.Fatal("the blocks are not the container variant and the host variant")
	}
	host := blocks[0][:last] + "    steps:\n" + regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(blocks[1], "      $1")
	for _, text := range []string{short[0], blocks[0], host} {
		lintWorkflow(t, localActions.ReplaceAllString(text, ".$1/"))
		if found, err := faults(localActions.ReplaceAllString(text, ".$1/")); err != nil || len(found) > 0 {
			t.Errorf("%q %v", found, err)
		}
	}
	asks(t, "README.md", short[0], []string{"types: [labeled]", "types: [created]"})
	asks(t, "docs/github.md", blocks[0],
		[]string{"types: [labeled, unlabeled, closed]", "types: [created]", "schedule:", "workflow_dispatch:"})
}

// localActions are ralph's actions in a workflow: without their version they are those of this repository.
var localActions = regexp.MustCompile(`ralph-loop/ralph((?:/host)?)@\S+`)

// asks fails when a workflow lacks an event, or a permission without which a run is paid for and cannot be delivered.
func asks(t *testing.T, file, workflow string, events []string) {
	t.Helper()
	for _, want := range append(events, "contents: write", "issues: write", "pull-requests: write", "checks: write",
		"actions: read", "statuses: read") {
		if !strings.Contains(workflow, want) {
			t.Errorf("the workflow of %s lacks %q", file, want)
		}
	}
}

func lintWorkflow(t *testing.T, text string) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject("..")
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint("README.yml", []byte(text), project)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%v\n%s", problem, text)
	}
}

// TestExampleReportsAreGolden: the examples of docs/reports.md are what the tests of internal/report hold the code
// against.
func TestExampleReportsAreGolden(t *testing.T) {
	text := document(t, "../docs/reports.md")
	examples := regexp.MustCompile(
		"(?ms)^<!-- (internal/report/(?:[a-z]+/)?testdata/golden/\\S+) -->\n````[a-z]+\n(.*?)^````$").FindAllStringSubmatch(
		text, -1)
	if n := strings.Count(text, "\n<!-- internal/"); len(examples) < 6 || len(examples) != n {
		t.Fatalf("%d examples are read, of %d", len(examples), n)
	}
	for _, example := range examples {
		if want := document(t, "../"+example[1]); strings.TrimRight(example[2], "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("docs/reports.md does not show %s as it is now: copy it there", example[1])
		}
	}
}
