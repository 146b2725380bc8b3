package prompt

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

func load(files map[string]string) (Set, error) {
	return Load(slices.Collect(maps.Keys(files)), func(name string) ([]byte, error) {
		if files[name] == "unreadable" {
			return nil, errors.New("no")
		}
		return []byte(files[name]), nil
	})
}

// TestLoadMistakes: a mistake in a repository's template is one sentence with its place, what is wrong and what is
// allowed.
func TestLoadMistakes(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"an unknown file", "implment.md", "x", ".ralph/prompts/implment.md is not a prompt of ralph; must be one of " +
			"implement.md, plan-implement.md, plan-review-fix.md, plan-review.md, qa.md, review.md and tester.md"},
		{"no Markdown", "implement.txt", "x", ".ralph/prompts/implement.txt is not a prompt of ralph"},
		{"a file that cannot be read", "qa.md", "unreadable", "reading .ralph/prompts/qa.md: no"},
		{"nothing in it", "qa.md", " \n", ".ralph/prompts/qa.md is empty"},
		{"no text", "qa.md", "a\xff", ".ralph/prompts/qa.md is not UTF-8 text"},
		{"too large", "qa.md", strings.Repeat("x", 64<<10+1),
			".ralph/prompts/qa.md has 65537 bytes; must be at most 65536"},
		{"an action that does not end", "implement.md", "a\nb {{if .Shift}}\n",
			".ralph/prompts/implement.md:3: unexpected EOF; must be {{if}}"},
		{"an unknown field", "implement.md", "a\n\n{{.Spec}}", ".ralph/prompts/implement.md:3: {{.Spec}} is not known; " +
			"must be {{if}}, {{else}} and {{end}} and the fields {{.Role}}, {{.Iteration}}"},
		{"a field of another role's", "implement.md", "{{.Change}}", "implement.md:1: {{.Change}} is not known"},
		{"where it would never be run", "implement.md", "{{if .Shift}}{{if .Hints}}{{.Nope}}{{end}}{{end}}",
			"implement.md:1: {{.Nope}} is not known"},
		{"a field of a field", "implement.md", "{{.Title.X}}", "{{.Title.X}} is not known"},
		{"an unknown function", "implement.md", "\n{{env \"HOME\"}}",
			`implement.md:2: function "env" not defined; must be`},
		{"a function that makes text", "implement.md", "{{printf \"%9999999d\" 1}}", "{{printf \"%9999999d\" 1}} is not known"},
		{"a loop", "implement.md", "{{range 1000000000}}x{{end}}", "{{range 1000000000}} is not known"},
		{"a variable", "implement.md", "{{$x := .Title}}{{$x}}", "is not known"},
		{"another template", "implement.md", "{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}",
			`implement.md:1: {{define "a"}} is not known`},
		{"a call of itself", "implement.md", "{{template \"implement.md\"}}", "is not known"},
		{"numbers with texts", "implement.md", "{{if lt .Title 3}}x{{end}}",
			"implement.md:1: error calling lt: incompatible types for comparison"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(map[string]string{tt.file: tt.text})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v,\nwant one with %s", err, tt.want)
			}
		})
	}
}

// TestOwnTemplate: a repository's words replace ralph's, and only the coder's where only those were written.
func TestOwnTemplate(t *testing.T) {
	set, err := load(map[string]string{"implement.md": "\uFEFFBe quick, {{.Role}}.\r\n{{if gt .Iteration " +
		"1}}Again.\n{{end}}{{.Task}}\n{{.Attempts}}\n{{.Exit}}\n", ".gitkeep": ""})
	if err != nil {
		t.Fatal(err)
	}
	w := Writer{Completion: "DONE", Templates: set}
	got, err := w.For(started(), loop.Step{Iteration: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "Be quick, coder.\nBetween the two lines") || strings.Contains(got, "Again") ||
		strings.Contains(got, "\n## Process") {
		t.Errorf("the prompt is %s", got)
	}
	if got, err = w.Review(started(), "feed", "d"); err != nil || !strings.HasPrefix(got, "# Review") {
		t.Errorf("the reviewer's prompt is %s, %v", got, err)
	}
}

// TestOwnTemplateIsCompleted: what a run needs and a template lacks is put at its end, so that the run can end and goes
// on from what was tried.
func TestOwnTemplateIsCompleted(t *testing.T) {
	set, err := load(map[string]string{"implement.md": "Do it.", "review.md": "Look at it.\n{{.Task}}"})
	if err != nil {
		t.Fatal(err)
	}
	fail := loop.Verdict{Check: "make test", Severity: loop.Hard, Reason: "no", Hash: "0123abcd", PromptText: "FAIL: add"}
	s := started(slices.Concat(iteration(1, "", fail), iteration(2, "", fail), iteration(3, "", fail))...)
	s.Start.Completion = jwt()
	w := Writer{Completion: "DONE", Templates: set}
	got, err := w.For(s, loop.Step{Iteration: 4, Tier: loop.Shift})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"Do it.\n\n## Your Task\n\n", "It subtracts.",
		"\n\nThe maintainer adds: keep it small\n\n## Previous Attempts\n\nBetween", "### Attempt 1", "FAIL: add",
		"\n## IMPORTANT: Strategy Shift Required\n",
		"\n## Ralph Loop Status\n", "\n## Exit Signals\n\n- Tests pass", "<promise>AUTH_IMPLEMENTED</promise> at the end"} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q does not come, or not in its place:\n%s", want, got)
		}
		at += i
	}
	judged, err := w.Review(started(), "feed", "the diff")
	if err != nil || strings.Count(judged, "It subtracts.") != 1 || !strings.Contains(judged, "\n## The Change\n") ||
		!strings.Contains(judged, "\n## Your Answer\n\nEnd with one JSON object") {
		t.Errorf("the reviewer's prompt is %s, %v", judged, err)
	}
}

// TestReplacedPromptSaysHowToEnd: a check that takes the prompt's place (S1-73) leaves a run of a task that can end.
func TestReplacedPromptSaysHowToEnd(t *testing.T) {
	got, err := Writer{Completion: "DONE"}.For(
		started(iteration(1, "", loop.Verdict{Check: "lint", Severity: loop.Hard, PromptText: "Only format.",
			FailAction: loop.Replace})...), loop.Step{Iteration: 2})
	if err != nil || !strings.HasPrefix(got, "Between the two lines with ralph-data-") ||
		strings.Index(got, "Only format.\n") > 400 || !strings.Contains(got, "<response>DONE</response>") ||
		strings.Count(got, "Only format.") != 1 {
		t.Errorf("the prompt is %s, %v", got, err)
	}
}

// TestPrependedOutput stands before the prompt, and only there (S1-72).
func TestPrependedOutput(t *testing.T) {
	got, err := Writer{Completion: "DONE"}.For(
		started(iteration(1, "", loop.Verdict{Check: "lint", Severity: loop.Hard, PromptText: "Mind the format.",
			FailAction: loop.Prepend})...), loop.Step{Iteration: 2})
	if err != nil || !strings.Contains(got, "Mind the format.\n--- end "+string(fence("20261121-120000-7f3a"))+
		" ---\n\n# Task Implementation") ||
		strings.Count(got, "Mind the format.") != 1 {
		t.Errorf("the prompt is %s, %v", got, err)
	}
}

// TestDocumentedFields: docs/internals/prompts.md names every field and every file.
func TestDocumentedFields(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "internals", "prompts.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range slices.Concat(fieldsOf("implement.md"), fieldsOf("qa.md"), fieldsOf("plan-review.md")) {
		if !strings.Contains(string(page), "`{{."+field+"}}`") {
			t.Errorf("it does not name the field %s", field)
		}
	}
	for _, name := range Names() {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("it does not name the file %s", name)
		}
	}
}
