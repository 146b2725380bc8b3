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

// TestOwnSteps checks run.yml with the steps that docs/github.md shows in place of its own.
func TestOwnSteps(t *testing.T) {
	blocks := fenced(document(t, "../docs/github.md"), "yaml")
	steps := strings.SplitAfter(blocks[len(blocks)-1], "    steps:\n")
	jobs := strings.SplitAfter(document(t, "../.github/workflows/run.yml"), "    steps:\n")
	if len(steps) != 3 || len(jobs) != 3 {
		t.Fatalf("docs/github.md has steps of %d jobs, run.yml of %d", len(steps)-1, len(jobs)-1)
	}
	sweep, _, _ := strings.Cut(steps[1], "  ralph:\n")
	_, job, _ := strings.Cut(jobs[1], "  ralph:\n")
	text := localActions.ReplaceAllString(jobs[0]+sweep+"  ralph:\n"+job+steps[2], "./$1")
	lintWorkflow(t, text)
	if found, err := faults(text); err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
}

// localActions are ralph's actions in a workflow: without their version they are those of this repository.
var localActions = regexp.MustCompile(`ralph-loop/ralph/?([\w./-]*)@\S+`)

func lintWorkflow(t *testing.T, text string) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{
		IgnorePatterns: []string{`property "workflow_(sha|repository)" is not defined`}}) // newer than actionlint
	noError(t, err)
	project, err := actionlint.NewProject("..")
	noError(t, err)
	problems, err := linter.Lint("README.yml", []byte(text), project)
	noError(t, err)
	for _, problem := range problems {
		t.Errorf("%v\n%s", problem, text)
	}
}

// TestShownFiles: what a document shows below the name of a file, or of a part of a script, is what that holds: the
// reports' goldens, and what the script of ralph action --dry-run holds the program against.
func TestShownFiles(t *testing.T) {
	for page, least := range map[string]int{"../docs/reports.md": 2, "../docs/github.md": 1} {
		text := document(t, page)
		examples := shownFile.FindAllStringSubmatch(text, -1)
		if n := len(regexp.MustCompile(`(?m)^<!-- (internal|testdata)/`).FindAllString(text, -1)); len(examples) < least || len(examples) != n {
			t.Fatalf("%s: %d examples are read, of %d", page, len(examples), n)
		}
		for _, example := range examples {
			want := document(t, "../"+example[1])
			if example[2] != "" {
				_, want, _ = strings.Cut(want, "\n-- "+example[2]+" --\n")
				want, _, _ = strings.Cut(want, "\n-- ")
			}
			if strings.TrimSpace(example[3]+example[4]) != strings.TrimSpace(want) {
				t.Errorf("%s does not show %s as it is now: copy it there", page, example[1])
			}
		}
	}
}

var shownFile = regexp.MustCompile("(?ms)^<!-- ((?:internal|testdata)/[^\\s:]+)(?:: (\\S+))? -->\n+(?:````[a-z]+\n(.*?)^````|```\n(.*?)^```)$")
