package task

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestCompleteExample: the example of S2 is a task (S2-89), and what is written of it is the same task (S2-10).
func TestCompleteExample(t *testing.T) {
	got, err := ParseFile("jwt.yaml", read(t, "testdata/jwt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "TASK-001" || got.SpecID != "auth-feature" || got.Title != "Implement JWT authentication" ||
		got.Priority != 1 ||
		got.Spec != "Add JWT-based authentication to all API endpoints.\nInclude login, logout, and token refresh "+
			"functionality." {
		t.Errorf("task = %+v", got)
	}
	c := got.Completion
	if len(c.Acceptance) != 7 || c.Outcome == "" {
		t.Errorf("completion = %+v", c)
	}
	if lines := strings.Split(strings.TrimSpace(c.Coder.Config.Command), "\n"); len(lines) != 4 ||
		c.Coder.MaxIterations != 15 || c.Coder.Method != External {
		t.Errorf("coder = %+v, %q", c.Coder, lines)
	}
	if p := c.Reviewer.Config.NegativePatterns; c.Reviewer.Method != Semantic || len(p) != 4 || p[3] != "password =" {
		t.Errorf("reviewer = %+v", c.Reviewer)
	}
	if c.Tester.Config.OutputNotContains != "FAILED" {
		t.Errorf("tester = %+v", c.Tester)
	}
	stages := c.QA.Config.Stages
	if len(stages) != 3 || !*c.QA.Config.RequireAll || !*stages[0].Required ||
		stages[1].Config.Command != "bandit -r src/auth/" || stages[2].Method != Semantic {
		t.Errorf("qa = %+v", c.QA)
	}
	if commands := c.Commands(); len(commands) != 4 {
		t.Errorf("commands = %q", commands)
	}
	if written := again(t, got); written != string(read(t, "testdata/jwt-written.yaml")) {
		t.Errorf("written:\n%s", written)
	}
}

// again holds a task against what is read of it after it was written.
func again(t *testing.T, want Task) string {
	t.Helper()
	written, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseFile("x.yaml", written)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: written as\n%s\nit is\n%+v, want\n%+v", err, written, got, want)
	}
	if !strings.HasSuffix(string(written), "\n") {
		t.Errorf("the last line has no end:\n%s", written)
	}
	return string(written)
}

func TestWrittenForm(t *testing.T) {
	no := false
	got := again(t, Task{ID: "T-1", Title: "Do: it", Spec: "One.\nTwo.", Priority: 2, Dependencies: []string{"T-0"},
		Completion: &Completion{
			Outcome: "It is done", Acceptance: []string{"a: b", "- c", "true", "401"},
			Coder: &Criteria{Promise: "DONE", Method: External,
				Config: &Verification{Command: "make test &&\n  test -f 'x y'\n", OutputContains: " 200"}},
			QA: &Criteria{Config: &Verification{Stages: []Stage{{Name: "one", Required: &no}}}},
		}})
	if want := string(read(t, "testdata/written.yaml")); got != want {
		t.Errorf("written:\n%s\nwant:\n%s", got, want)
	}
	for _, role := range []string{"tester", "reviewer"} { // S2-13
		if strings.Contains(got, role) {
			t.Errorf("%s is written, which the task says nothing about", role)
		}
	}
}

// TestHardTexts: whatever a text holds, what is written is read as it was.
func TestHardTexts(t *testing.T) {
	for _, s := range []string{"x", "a\n", "\n a", " a", "a ", "a\n\n\nb\n\n", "  a\n b", "\ta\n\tb", "#a", "a #b", "- a",
		"a: b", "'", `"`, `\`, "|", ">", "null", "~", "yes", "1e3", "0x1",
		"2026-11-21", "é 日本 🙂", "---", "...", "%a", "@a", "`a`", "{a}", "[a]", "*a", "&a", "!a", "? a", "a\n---\nb", "a\t\n",
		"trailing \nspace", "=", "<<"} {
		again(t, Task{ID: "T", Title: "t",
			Completion: &Completion{Outcome: s, Coder: &Criteria{Config: &Verification{Command: s}}}})
	}
}

// TestShapes: a file holds one task, however it is wrapped.
func TestShapes(t *testing.T) {
	for name, content := range map[string]string{
		"a.yaml":            "id: T-1\ntitle: Do it\n",
		"document.yaml":     "---\nid: T-1\ntitle: Do it\n---\n",
		"under.yaml":        "task:\n  id: T-1\n  title: Do it\n",
		"one of a list.yml": "- id: T-1\n  title: Do it\n",
		"json.json":         `{"id": "T-1", "title": "Do it"}`,
		"-":                 "id: T-1\ntitle: Do it\n",
		"crlf.yaml":         "id: T-1\r\ntitle: Do it\r\n",
		"null.yaml":         "id: T-1\ntitle: Do it\ncompletion:\npriority: null\ndependencies: []\nspec_id: ''\n",
		"T-1.md":            "# Do it\n",
		"front.md":          "---\nid: T-1\n---\n\n# Do it\n",
		"title.md":          "---\nid: T-1\ntitle: Do it\n---\n",
		"more":              "---\nid: T-1\n---\n# Do it\n",
	} {
		got, err := ParseFile(name, []byte(content))
		if err != nil || got.ID != "T-1" || got.Title != "Do it" || got.Completion != nil || got.Spec != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestMarkdownTask(t *testing.T) {
	got, err := ParseFile("TASK-7.md", read(t, "testdata/TASK-7.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := Task{ID: "TASK-7", Title: "Fix the add function", Spec: "It subtracts.\n\nSee `calc.sh`.", Priority: 3,
		Completion: &Completion{
			Outcome: "make test passes", Acceptance: []string{"`add 2 3` prints 5", "negative numbers work"},
			Tester: &Criteria{Method: External, Config: &Verification{Command: "make test"}, MaxIterations: 2},
		}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("task = %+v, %+v\nwant %+v, %+v", got, got.Completion, want, want.Completion)
	}
	again(t, got)
}

// TestMistakes: a file that is no task gets one sentence: where, what was found, what is allowed. The cases are in
// testdata/mistakes.txtar, each with what is said of its file.
func TestMistakes(t *testing.T) {
	cases := append(archive.Cases(t, "testdata/mistakes.txtar"),
		archive.Case{Text: "x.yaml, line 2: the text is not UTF-8 there", Files: map[string]string{"x.yaml": "id: T\ntitle: \xff\n"}},
		archive.Case{Text: "the text has 81920 bytes; must be at most 65536", Files: map[string]string{"x.yaml": strings.Repeat("#\n", 40<<10)}})
	for _, c := range cases {
		_, err := ParseFile("x.yaml", []byte(c.Files["x.yaml"]))
		if want := strings.TrimSuffix(c.Text, "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", c.Name, err, want)
		} else if n := strings.Count(err.Error(), "\n"); n > 0 {
			t.Errorf("%s: one mistake, and %d lines: %v", c.Name, n+1, err)
		}
	}
}

// TestHostileFilesEnd: no text of the allowed size keeps the parser; where it did, each of these would take hours.
func TestHostileFilesEnd(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 8) + "]\n"
	}
	for name, content := range map[string]string{
		"brackets": strings.Repeat("[", 60000), "braces": strings.Repeat("{a: ", 15000),
		"dashes": strings.Repeat("- ", 30000), "marks": strings.Repeat("? ", 30000),
		"anchors": strings.Repeat("&a ", 20000), "tags": strings.Repeat("!a ", 20000), "colons": strings.Repeat(": ", 30000),
		"aliases": bomb,
		"mixed":   strings.Repeat("- ? ", 15000), "keys": strings.Repeat("a: ", 20000),
		"anchored": strings.Repeat("&a [", 15000), "quotes": strings.Repeat("- \"\" ", 10000),
	} {
		if _, err := ParseFile("x.yaml", []byte(content)); err == nil {
			t.Errorf("%s: this is a task", name)
		}
	}
}

func TestCompletionAlone(t *testing.T) {
	want := &Completion{Outcome: "x", Coder: &Criteria{Promise: "A"}}
	for _, content := range []string{"outcome: x\ncoder: {promise: A}\n",
		"completion:\n  outcome: x\n  coder:\n    promise: A\n", `{"outcome": "x",	"coder": {"promise": "A"}}`} {
		if got, err := ParseCompletion("settings", []byte(content)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", content, got, err)
		}
	}
	for content, want := range map[string]string{
		`{"coder": {"promis": "A"}}`: "settings: coder.promis is an unknown key; must be one of promise, description, verification_method, verification_config and max_iterations; did you mean " +
			"promise?",
		`{"coder": {"verification_config": {"timeout": 1.5}}}`:          `coder.verification_config.timeout is "1.5"; must be a whole number`,
		`{"acceptance_criteria": "a"}`:                                  `acceptance_criteria is "a"; must be a list`,
		`{"reviewer": {"verification_method": "semantic"}}`:             `settings: reviewer.verification_config.check_for is missing`,
		`{"qa": {"verification_config": {"stages": [{"name": 7}, 3]}}}`: `qa.verification_config.stages[2] is "3"; must be an object`,
	} {
		if _, err := ParseCompletion("settings", []byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", content, err, want)
		}
	}
}
