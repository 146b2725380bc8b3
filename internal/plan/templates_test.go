package plan

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPRDHasEverySection: the ten sections of S4-99 in their order, each with its tiers and a comment, and 6a to 6e.
func TestPRDHasEverySection(t *testing.T) {
	text := PRD("Todo")
	want := []string{"1. Summary", "2. Problem Statement", "3. Goals", "4. Non-Goals", "5. Background & Context",
		"6. Technical Design", "7. Constraints",
		"8. Edge Cases & Error Handling", "9. Risks & Mitigations", "10. Open Questions"}
	var got []string
	for _, section := range strings.Split(text, "\n## ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		got = append(got, name)
		if !regexp.MustCompile(`<!-- (Required|Recommended|Optional)\b[^.]*\b[SML]\b`).MatchString(body) {
			t.Errorf("section %q does not say for whom it is: %q", name, body)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("sections are %q, want %q", got, want)
	}
	if n := len(regexp.MustCompile(`(?m)^### 6[a-e]\. `).FindAllString(text, -1)); n != 5 {
		t.Errorf("%d subsections of 6, want 5", n)
	}
}

func TestUnwritten(t *testing.T) {
	for name, test := range map[string]struct {
		prd  string
		want bool
	}{
		"empty":              {"", true},
		"the template":       {PRD("Todo"), true},
		"with CRLF":          {strings.ReplaceAll(PRD("Todo"), "\n", "\r\n"), true},
		"a text":             {"# A\n\nBuild it.\n", false},
		"a text in a table":  {PRD("Todo") + "| crash | 1 | 2 | 3 |\n", false},
		"after a comment":    {"<!-- a --> b", false},
		"in a comment":       {"<!-- a\nb --> \n", true},
		"unfinished comment": {"<!-- a\nb", true},
	} {
		if got := Unwritten(test.prd); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestUntouched(t *testing.T) {
	for name, test := range map[string]struct {
		tasks string
		want  bool
	}{
		"the template": {Tasks("a \"b\"", "ralph/x"), true},
		"a title":      {strings.Replace(Tasks("", ""), `"title": ""`, `"title": "Do it"`, 1), false},
		"criteria":     {strings.Replace(Tasks("", ""), `"acceptanceCriteria": []`, `"acceptanceCriteria": ["x"]`, 1), false},
		"no stories":   {`{"userStories": []}`, false},
		"no JSON":      {`{`, false},
		"empty":        {``, false},
	} {
		if got := Untouched([]byte(test.tasks)); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestTasksIsTheTemplate: the fields of S4-100 in their order, and what is put in is JSON whatever it is.
func TestTasksIsTheTemplate(t *testing.T) {
	text := Tasks(`<a "b">`, "ralph/todo")
	var got struct {
		Project, BranchName string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Project != `<a "b">` ||
		got.BranchName != "ralph/todo" {
		t.Errorf("%+v, %v", got, err)
	}
	keys := []string{}
	for _, match := range regexp.MustCompile(`(?m)^ +"([A-Za-z]+)":`).FindAllStringSubmatch(text, -1) {
		keys = append(keys, match[1])
	}
	want := []string{"project", "branchName", "description", "verifyCommands", "userStories", "id", "title", "description",
		"acceptanceCriteria", "priority",
		"passes", "reviewStatus", "reviewCount", "reviewFeedback", "notes", "dependsOn"}
	if !slices.Equal(keys, want) {
		t.Errorf("keys are %q, want %q", keys, want)
	}
}

func TestProgressIsTheTemplate(t *testing.T) {
	want := "# Ralph Progress Log\nStarted: 2026-01-15\nPRD: Todo list\n\n## Codebase Patterns\n- (Reusable patterns " +
		"discovered during this loop)\n\n---\n"
	if got := Progress("2026-01-15", "Todo\nlist"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIgnoring(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"none":             {"", ".ralph-active\n"},
		"no last line end": {"a", "a\n.ralph-active\n"},
		"CRLF, no end":     {"a\r\nb", "a\r\nb\r\n.ralph-active\r\n"},
		"there, CRLF":      {".ralph-active\r\n", ".ralph-active\r\n"},
		"there, anchored":  {"/.ralph-active", "/.ralph-active"},
		"part of a name":   {"x.ralph-active\n", "x.ralph-active\n.ralph-active\n"},
		"in a comment":     {"# .ralph-active\n", "# .ralph-active\n.ralph-active\n"},
	} {
		got, added := Ignoring([]byte(test.before), ".ralph-active")
		if string(got) != test.after || added != (test.before != test.after) {
			t.Errorf("%s: %q, %v; want %q", name, got, added, test.after)
		}
		if again, more := Ignoring(got, ".ralph-active"); more || string(again) != string(got) {
			t.Errorf("%s: twice makes %q", name, again)
		}
	}
}

// TestPromptIsFilledIn: the loop fills in every variable that the prompt names, and the modes come in the order of their
// priority.
func TestPromptIsFilledIn(t *testing.T) {
	text := strings.Join(strings.Fields(Prompt()), " ")
	for _, variable := range regexp.MustCompile(`\$[A-Z_]+`).FindAllString(text, -1) {
		if !slices.Contains([]string{"$RALPH_ITERATION", "$RALPH_MAX_ITERATIONS", "$RALPH_MODE", "$RALPH_STORY",
			"$RALPH_REVIEW_CAP"}, variable) {
			t.Errorf("nobody fills in %s", variable)
		}
	}
	if strings.Index(text, "**review-fix**") > strings.Index(text, "**review**") ||
		strings.Index(text, "**review**") > strings.Index(text, "**implement**") {
		t.Error("the modes are not in the order of their priority")
	}
}

// TestSkillTriggers: the front matter has the phrases of S4-106, and nothing is left to be filled in.
func TestSkillTriggers(t *testing.T) {
	head, body, _ := strings.Cut(strings.TrimPrefix(Skill(), "---\n"), "\n---\n")
	for _, want := range []string{"name: ralph-plan\n", "/ralph-plan", "plan this feature for ralph", "create a ralph prd",
		"generate tasks for ralph"} {
		if !strings.Contains(head+"\n", want) {
			t.Errorf("the front matter lacks %q: %s", want, head)
		}
	}
	if strings.Contains(body, "{{") {
		t.Error("something is not filled in")
	}
}

// TestPluginIsWhole: what is JSON is JSON, and what the manifest names is there (S4-08, S4-09).
func TestPluginIsWhole(t *testing.T) {
	files := Plugin()
	var manifest map[string]string
	noError(t, json.Unmarshal([]byte(files[".claude-plugin/plugin.json"]), &manifest))
	if manifest["name"] != "ralph" || manifest["version"] != "0.1.0" || manifest["hooks"] != "./hooks/hooks.json" ||
		manifest["description"] == "" {
		t.Errorf("the manifest is %v", manifest)
	}
	var hooks struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Type, Command string }
		}
	}
	noError(t, json.Unmarshal([]byte(files["hooks/hooks.json"]), &hooks))
	for event, want := range map[string]string{"SessionStart": "session-start", "PreToolUse": "guard",
		"PostToolUse": "context-monitor", "Stop": "stop"} {
		if on := hooks.Hooks[event]; len(on) != 1 || len(on[0].Hooks) != 1 || on[0].Hooks[0].Command != "ralph hook "+want {
			t.Errorf("%s calls %+v, want ralph hook %s", event, on, want)
		}
	}
	if !json.Valid([]byte(files[".claude-plugin/marketplace.json"])) {
		t.Error("the marketplace is no JSON")
	}
}
