package task

import (
	"os"
	"reflect"
	"strings"
	"testing"
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

// TestMistakes: a file that is no task gets one sentence: where, what was found, what is allowed.
func TestMistakes(t *testing.T) {
	head := "id: T-1\ntitle: t\n"
	coder := func(lines string) string {
		return head + "completion:\n  coder:\n" + strings.ReplaceAll("    "+strings.TrimSpace(lines), "\n", "\n    ") + "\n"
	}
	for _, c := range []struct{ name, content, want string }{
		{"unknown key", head + "tilte: x\n",
			`x.yaml, line 3, column 1: tilte is an unknown key; must be one of id, spec_id, title, description, priority, dependencies and completion; did you mean title?`},
		{"a longer key", head + "completion_spec: {}\n", `did you mean completion?`},
		{"twice", head + "id: T-2\n", `x.yaml, line 3, column 1: id is here twice; remove one`},
		{"twice in JSON form", `{id: a, title: b, id: c}`, `id is here twice`},
		{"no id", "title: t\n",
			`x.yaml, line 1, column 1: id is missing; must be letters, digits, dots, dashes and underscores, at most 60, as in TASK-001`},
		{"an id that leads out", "id: ../x\ntitle: t\n", `x.yaml, line 1, column 5: id is "../x"; must be letters`},
		{"an id for a lock", "id: x.lock\ntitle: t\n", `id is "x.lock"; must be`},
		{"an id of dots", "id: a..b\ntitle: t\n", `id is "a..b"; must be`},
		{"a long id", "id: " + strings.Repeat("a", 61) + "\ntitle: t\n", `must be letters`},
		{"no title", "id: T\n", `title is missing; write the request in one line`},
		{"empty title", "id: T\ntitle: ''\n", `x.yaml, line 2, column 8: title is empty; give it a text, or leave it out`},
		{"priority", head + "priority: high\n", `x.yaml, line 3, column 11: priority is "high"; must be a whole number`},
		{"negative priority", head + "priority: -1\n", `priority is -1; must be 0 to 1000000`},
		{"dependencies", head + "dependencies: T-0\n", `dependencies is "T-0"; must be a list`},
		{"itself", head + "dependencies: [T-1]\n",
			`x.yaml, line 3, column 16: dependencies[1] is T-1 itself; a task cannot wait for itself`},
		{"no id there", head + "dependencies: [a b]\n", `dependencies[1] is "a b", which is not a valid id`},
		{"one twice", head + "dependencies: [T-0, T-0]\n", `dependencies[2] is T-0 for the second time`},
		{"completion", head + "completion: done\n",
			`completion is "done"; must be an object with the keys outcome, acceptance_criteria, coder, tester, reviewer and qa`},
		{"criteria", head + "completion:\n  acceptance_criteria:\n    - a\n    - ''\n",
			`x.yaml, line 6, column 7: completion.acceptance_criteria[2] is empty`},
		{"an object in a list", head + "completion:\n  acceptance_criteria:\n    - a: b\n",
			`x.yaml, line 5, column 7: completion.acceptance_criteria[1] is an object; must be a text`},
		{"method", coder("verification_method: extrenal"),
			`x.yaml, line 5, column 26: completion.coder.verification_method is "extrenal", an unknown verification method; must be one of string_match, semantic, external and multi_stage; did you mean external?`},
		{"method with a dash", coder("verification_method: multi-stage"), `did you mean multi_stage?`},
		{"external without command", coder("verification_method: external"),
			`x.yaml, line 5, column 5: completion.coder.verification_config.command is missing: No command specified for external verification`},
		{"semantic without questions", coder("verification_method: semantic"),
			`check_for is missing; give a list of texts, "{{acceptance_criteria}}", or negative_patterns`},
		{"no stages", coder("verification_method: multi_stage\nverification_config:\n  stages: []"),
			`x.yaml, line 7, column 15: completion.coder.verification_config.stages is missing; give at least one stage`},
		{"stages in a stage", coder("verification_config:\n  stages:\n    - name: a\n      method: multi_stage"),
			`completion.coder.verification_config.stages[1].method is multi_stage in a stage; must be one of string_match, semantic and external`},
		{"stages in a config", coder("verification_config:\n  stages:\n    - name: a\n      config: {stages: [{name: b}]}"),
			`is multi_stage in a stage`},
		{"a stage's command", coder("verification_config:\n  stages:\n    - config: {command: x}"),
			`stages[1].config.command is read by external alone, and the method is string_match; say method: external, or leave it out`},
		{"a command that nobody runs", coder("verification_method: string_match\nverification_config: {command: make}"),
			`x.yaml, line 6, column 36: completion.coder.verification_config.command is read by external alone, and the method is string_match`},
		{"questions that nobody asks", coder("verification_config: {check_for: [a]}"),
			`check_for is read by semantic alone; say verification_method: semantic`},
		{"a time without a command", coder("verification_config: {timeout: 5}"), `timeout is read by external alone`},
		{"two in one", coder("verification_config: {command: a, stages: [{name: b}]}"),
			`stages is read by multi_stage alone; say verification_method: multi_stage`},
		{"check_for", coder("verification_method: semantic\nverification_config: {check_for: {a: b}}"),
			`check_for is an object; must be a list of strings, or "{{acceptance_criteria}}"`},
		{"timeout", coder("verification_config: {command: a, timeout: -1}"), `timeout is -1; must be 1 to 86400 seconds`},
		{"no timeout", coder("verification_config: {command: a, timeout: 0}"),
			`timeout is 0; must be a number from 1, or leave it out`},
		{"a time with a unit", coder("verification_config: {command: a, timeout: 5m}"),
			`timeout is "5m"; must be a whole number`},
		{"exit code", coder("verification_config: {command: a, success_exit_code: 256}"),
			`success_exit_code is 256; must be 0 to 255`},
		{"out of the tree", coder("verification_config: {command: a, working_dir: a/../../b}"),
			`working_dir is "a/../../b"; must be a directory in the worktree`},
		{"absolute", coder("verification_config: {command: a, working_dir: /etc}"), `working_dir is "/etc"`},
		{"at home", coder("verification_config: {command: a, working_dir: ~/x}"), `working_dir is "~/x"`},
		{"required", coder("verification_config:\n  stages:\n    - required: maybe"),
			`stages[1].required is "maybe"; must be true or false`},
		{"promise", coder("promise: <promise>DONE</promise>"),
			`promise is "<promise>DONE</promise>"; must be a string without < and >`},
		{"empty promise", coder("promise: ' '"), `promise is empty`},
		{"no promise", coder("promise:"), `promise is empty`},
		{"a promise of two lines", coder("promise: |\n  a\n  b"), `promise is "a\nb`},
		{"iterations", coder("max_iterations: 10001"), `max_iterations is 10001; must be 1 to 10000`},
		{"no iterations", coder("max_iterations: 0"), `max_iterations is 0; must be a number from 1`},
		{"documents", head + "---\n" + head,
			`x.yaml, line 4, column 1: here begins the second of 2 documents; one file holds one task: split it into a file each`},
		{"items", "- id: a\n  title: a\n- id: b\n  title: b\n",
			`x.yaml, line 3, column 3: here begins the second of 2 items; one file holds one task: split it`},
		{"no object", "just a text\n",
			`x.yaml, line 1, column 1: the task is "just a text"; must be an object, a key and its value a line`},
		{"empty", " \n", `x.yaml: the text is empty`},
		{"comments only", "# a\n", `x.yaml: the text is empty`},
		{"no YAML", "id: T\n  title: [\n", `this is not YAML`},
		{"not UTF-8", "id: T\ntitle: \xff\n", `x.yaml, line 2: the text is not UTF-8 there`},
		{"too big", strings.Repeat("#\n", 40<<10), `the text has 81920 bytes; must be at most 65536`},
		{"an alias", "id: &a T\ntitle: *a\n",
			`x.yaml, line 1, column 5: "&" is an anchor or an alias, which has no place in a task; write the value itself`},
		{"a merge", head + "completion:\n  coder: {<<: {promise: a}}\n", `"<<" is no key; a key is a word`},
		{"a tag", "id: !!str T\ntitle: t\n", `is a tag`},
		{"a number as key", head + "1: a\n", `"1" is no key`},
		{"a deep one", head + "completion: " + strings.Repeat("[", 21), `values are nested more than 20 deep`},
	} {
		_, err := ParseFile("x.yaml", []byte(c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		} else if n := strings.Count(err.Error(), "\n"); n > 0 {
			t.Errorf("%s: one mistake, and %d lines: %v", c.name, n+1, err)
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
