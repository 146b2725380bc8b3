package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// storyFields are a story's members, whose values are JSON.
var storyFields = map[string]string{
	"id": `"US-001"`, "title": `"T"`, "description": `"D"`, "acceptanceCriteria": `["it works"]`, "priority": `1`,
	"passes":       `false`,
	"reviewStatus": `null`, "reviewCount": `0`, "reviewFeedback": `""`, "notes": `""`, "dependsOn": `[]`,
}

// fileWith is a plan's file whose one story has a member more, or other; without one when its value is empty.
func fileWith(key, value string) string {
	fields := maps.Clone(storyFields)
	fields[key] = value
	var members []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if fields[k] != "" {
			members = append(members, fmt.Sprintf("%q:%s", k, fields[k]))
		}
	}
	return fileOfStories("{" + strings.Join(members, ",") + "}")
}

func fileOfStories(stories string) string {
	return `{"project":"P","branchName":"ralph/p","description":"D","userStories":[` + stories + `]}`
}

// TestParsePlanFields: each field of a story with what it may be and what it may not be (S4-60…S4-62).
func TestParsePlanFields(t *testing.T) {
	const missing = ""
	for _, row := range []struct{ key, value, want string }{
		{"id", missing, "story number 1: id is missing; every story has it"},
		{"id", `1`, "story number 1: id is 1 (a number); must be a string"},
		{"id", `null`, "story number 1: id is null; must be a string"},
		{"id", `""`,
			`story number 1: id is ""; must be letters, digits, dots, dashes and underscores, at most 64, as in US-001`},
		{"id", `"../x"`,
			`story number 1: id is "../x"; must be letters, digits, dots, dashes and underscores, at most 64, as in US-001`},
		{"id", `"UЅ-001"`,
			`story number 1: id is "UЅ-001"; must be letters, digits, dots, dashes and underscores, at most 64, as in US-001`},
		{"id", `"US-001\n"`,
			`story number 1: id is "US-001\n"; must be letters, digits, dots, dashes and underscores, at most 64, as in US-001`},
		{"id", `"` + strings.Repeat("x", 64) + `"`, ""},
		{"id", `"` + strings.Repeat("x", 65) + `"`,
			`story number 1: id is "` + strings.Repeat("x", 60) +
				`…"; must be letters, digits, dots, dashes and underscores, at most 64, as in US-001`},
		{"title", missing, "story US-001: title is missing; every story has it"},
		{"title", `7`, "story US-001: title is 7 (a number); must be a string"},
		{"title", `"a\u0000b"`, "story US-001: title holds a zero byte; leave it out"},
		{"description", missing, ""},
		{"description", `null`, "story US-001: description is null; must be a string"},
		{"acceptanceCriteria", missing, "story US-001: acceptanceCriteria is missing; every story has it"},
		{"acceptanceCriteria", `[]`, "story US-001: acceptanceCriteria is empty; must be a list with at least one string"},
		{"acceptanceCriteria", `"it works"`,
			`story US-001: acceptanceCriteria is "it works" (a string); must be a list of strings`},
		{"acceptanceCriteria", `["a"," "]`, "story US-001: acceptanceCriteria[2] is empty; give it a text, or leave it out"},
		{"acceptanceCriteria", `["a",{}]`, "story US-001: acceptanceCriteria[2] is an object; must be a string"},
		{"priority", missing, "story US-001: priority is missing; every story has it"},
		{"priority", `"1"`,
			`story US-001: priority is "1" (a string); must be a number from -1e9 to 1e9, the lower the sooner`},
		{"priority", `-1.5e3`, ""},
		{"priority", `1e9`, ""},
		{"priority", `1000000001`, "story US-001: priority is 1000000001 (a number); must be a number from -1e9 to 1e9, " +
			"the lower the sooner"},
		{"priority", `1e999`, "story US-001: priority is 1e999 (a number); must be a number from -1e9 to 1e9, the lower " +
			"the sooner"},
		{"passes", missing, "story US-001: passes is missing; every story has it"},
		{"passes", `"true"`, `story US-001: passes is "true" (a string); must be true or false`},
		{"passes", `1`, "story US-001: passes is 1 (a number); must be true or false"},
		{"passes", `null`, "story US-001: passes is null; must be true or false"},
		{"passes", `[true]`, "story US-001: passes is a list; must be true or false"},
		{"passes", `true`, "story US-001: passes is true and notes is empty; say in notes what was done"},
		{"reviewStatus", missing, "story US-001: reviewStatus is missing; every story has it"},
		{"reviewStatus", `"needs_review"`, ""},
		{"reviewStatus", `"changes_requested"`, ""},
		{"reviewStatus", `"approved"`, ""},
		{"reviewStatus", `"Approved"`,
			`story US-001: reviewStatus is "Approved" (a string); must be null, "needs_review", "changes_requested" and "approved"`},
		{"reviewStatus", `""`,
			`story US-001: reviewStatus is "" (a string); must be null, "needs_review", "changes_requested" and "approved"`},
		{"reviewStatus", `false`,
			`story US-001: reviewStatus is false; must be null, "needs_review", "changes_requested" and "approved"`},
		{"reviewCount", missing, "story US-001: reviewCount is missing; every story has it"},
		{"reviewCount", `1000`, ""},
		{"reviewCount", `1001`, "story US-001: reviewCount is 1001 (a number); must be a whole number from 0 to 1000"},
		{"reviewCount", `-1`, "story US-001: reviewCount is -1 (a number); must be a whole number from 0 to 1000"},
		{"reviewCount", `1.0`, "story US-001: reviewCount is 1.0 (a number); must be a whole number from 0 to 1000"},
		{"reviewCount", `1e0`, "story US-001: reviewCount is 1e0 (a number); must be a whole number from 0 to 1000"},
		{"reviewCount", `1e999`, "story US-001: reviewCount is 1e999 (a number); must be a whole number from 0 to 1000"},
		{"reviewCount", `"1"`, `story US-001: reviewCount is "1" (a string); must be a whole number from 0 to 1000`},
		{"reviewCount", `null`, "story US-001: reviewCount is null; must be a whole number from 0 to 1000"},
		{"reviewFeedback", missing, "story US-001: reviewFeedback is missing; every story has it"},
		{"reviewFeedback", `null`, "story US-001: reviewFeedback is null; must be a string"},
		{"notes", missing, ""},
		{"notes", `["a"]`, "story US-001: notes is a list; must be a string"},
		{"dependsOn", missing, ""},
		{"dependsOn", `["US-404"]`, ""},
		{"dependsOn", `"US-404"`, `story US-001: dependsOn is "US-404" (a string); must be a list of strings`},
		{"dependsOn", `[1]`, "story US-001: dependsOn[1] is 1 (a number); must be a string"},
		{"Passes", `true`, `story US-001: "Passes" is no key, and looks like one; write it "passes"`},
		{"paſſes", `true`, `story US-001: "paſſes" is no key, and looks like one; write it "passes"`},
		{"reviewstatus", `"approved"`, `story US-001: "reviewstatus" is no key, and looks like one; write it "reviewStatus"`},
		{"estimate", `{"a":[{"b":1},{"b":2}]}`, ""},
	} {
		_, err := Parse("tasks.json", []byte(fileWith(row.key, row.value)))
		if got := problemsOf(t, err); strings.Join(got, "\n") != row.want {
			t.Errorf("%s %.40s: got %q, want %q", row.key, row.value, got, row.want)
		}
	}
}

// problemsOf are what a *Error says.
func problemsOf(t *testing.T, err error) []string {
	t.Helper()
	var wrong *Error
	if err != nil && !errors.As(err, &wrong) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	if wrong == nil {
		return nil
	}
	if wrong.Name != "tasks.json" || len(wrong.Problems) == 0 {
		t.Errorf("%+v", wrong)
	}
	return wrong.Problems
}

// TestParsePlanFile: what is around the stories, and that all is JSON.
func TestParsePlanFile(t *testing.T) {
	story := func(id string) string {
		return strings.TrimSuffix(strings.TrimPrefix(fileWith("id", `"`+id+`"`),
			fileOfStories("")[:len(fileOfStories(""))-2]), "]}")
	}
	for name, row := range map[string]struct {
		content string
		want    string
	}{
		"no stories": {fileOfStories(""), ""},
		"no id twice": {fileOfStories(story(`\u001b[2J`) + "," + story(`\u001b[2J`)),
			`story number 1: id is "\x1b[2J"; ` + storyIDRule + "\nstory number 2: id is \"\\x1b[2J\"; " + storyIDRule},
		"two stories": {fileOfStories(story("A") + "," + story("B")), ""},
		"one id twice": {fileOfStories(story("A") + "," + story("B") + "," + story("A")),
			"story A: id is also that of story number 1, A; each story must have its own, also when case is ignored"},
		"one id by case": {fileOfStories(story("us-1") + "," + story("US-1")),
			"story US-1: id is also that of story number 1, us-1; each story must have its own, also when case is ignored"},
		"empty": {" \n", "the file is empty; it must hold a JSON object with project, branchName, description " +
			"and userStories"},
		"nothing there": {`{}`, "project is missing; every plan has it\nbranchName is missing; every plan has " +
			"it\ndescription is missing; every plan has it\nuserStories is missing; every plan has it"},
		"a list": {`[]`, "the plan is a list; must be an object with the keys project, branchName, " +
			"description, verifyCommands and userStories"},
		"null": {`null`, "the plan is null; must be an object with the keys project, branchName, " +
			"description, verifyCommands and userStories"},
		"an object": {strings.Replace(fileOfStories(""), "[]", "{}", 1),
			"userStories is an object; must be a list of stories"},
		"a story of none": {fileOfStories(`null`), "story number 1 is null; must be an object with the keys id, title, " +
			"description, acceptanceCriteria, priority, passes, reviewStatus, reviewCount, reviewFeedback, notes and dependsOn"},
		"a command": {strings.Replace(fileOfStories(""), `"userStories"`, `"verifyCommands":["make",""],"userStories"`,
			1), "verifyCommands[2] is empty; give it a text, or leave it out"},
		"userstories": {strings.Replace(fileOfStories(""), `"userStories"`, `"userstories":[],"userStories"`, 1),
			`"userstories" is no key, and looks like one; write it "userStories"`},
		"a byte order": {"\ufeff" + fileOfStories(""),
			"the file begins with a byte order mark; save it as UTF-8 without one"},
		"not UTF-8": {"{\n\"project\":\"\xff\"}", "line 2, column 12 is not UTF-8; save the file as UTF-8"},
		"a comment": {"{\n  // this\n}", "line 2, column 3: this is not JSON: invalid character '/' looking for " +
			"beginning of object key string; must be one object, without comments and without a comma after the last item"},
		"a comma": {"{\"a\":1,}", "line 1, column 8: this is not JSON: invalid character '}' looking for beginning " +
			"of object key string; must be one object, without comments and without a comma after the last item"},
		"NaN": {fileWith("priority", "NaN"), "line 1, column 191: this is not JSON: invalid character 'N' " +
			"looking for beginning of value; must be one object, without comments and without a comma after the last item"},
		"two documents": {fileOfStories("") + "\n{}", "line 2, column 1: this is not JSON: invalid character '{' after " +
			"top-level value; must be one object, without comments and without a comma after the last item"},
		"half of it": {`{"project":`, "line 1, column 11: this is not JSON: unexpected end of JSON input; must be " +
			"one object, without comments and without a comma after the last item"},
		"UTF-16": {"{\x00\"\x00}\x00", "line 1, column 2: this is not JSON: invalid character '\\x00' looking for " +
			"beginning of object key string; must be one object, without comments and without a comma after the last item"},
		"deep": {strings.Replace(fileOfStories(""), `"P"`, strings.Repeat("[", 5000)+strings.Repeat("]", 5000), 1),
			"line 1, column 75: values are nested more than 64 deep; a plan has four levels"},
		"a bomb": {strings.Repeat(`{"a":`, 100_000), "line 1, column 50001: this is not JSON: invalid character " +
			"'{' exceeded max depth; must be one object, without comments and without a comma after the last item"},
		"10 MB": {strings.Repeat(" ", 10<<20) + fileOfStories(""),
			"the file has 10485833 bytes; must be at most 4194304"},
		"1001 stories": {fileOfStories(strings.Repeat("{},", 1000) + "{}"),
			"userStories has 1001 stories; must be at most 1000"},
	} {
		_, err := Parse("tasks.json", []byte(row.content))
		if got := problemsOf(t, err); strings.Join(got, "\n") != row.want {
			t.Errorf("%s: got %q\nwant %q", name, got, row.want)
		}
	}
}

// TestParsePlanTellsAll: every mistake is told at once, up to a bound.
func TestParsePlanTellsAll(t *testing.T) {
	_, err := Parse("tasks.json", []byte(fileOfStories(strings.Repeat(`{"passes":1},`, 20)+`{}`)))
	got := problemsOf(t, err)
	if len(got) != mostProblems || got[0] != "story number 1: id is missing; every story has it" ||
		got[49] != "and 119 more problems" {
		t.Errorf("%d problems, the last is %q", len(got), got[len(got)-1])
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(got) || lines[0] != "tasks.json: story number 1: id is missing; every story has it" {
		t.Errorf("as an error: %s", err)
	}
}

// FuzzParse: nothing makes the parser panic, what it reads it reads again from what Marshal writes, and a reader of
// JSON that is less strict does not find another standing in the file.
func FuzzParse(f *testing.F) {
	f.Add(fileOf(f, "tasks.json"))
	for _, key := range []string{"id", "passes", "Passes", "reviewStatus", "paſſes", "estimate"} {
		for _, value := range []string{`"approved"`, `true`, `null`, `1e0`, `{"a":{"a":[]}}`, `"\ud800"`} {
			f.Add([]byte(fileWith(key, value)))
		}
	}
	for _, text := range []string{"", "{", "[]", `{"a":1}{}`, "\ufeff{}", "{\"project\":\"\xff\"}",
		`{"userStories":[{"passes":true,"passes":false}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := Parse("tasks.json", content)
		foreign, isForeign, ferr := Read("prd.json", content)
		if ferr == nil && len(foreign.Invariants(Rules{ReviewCap: maxReviewCount})) > 0 && isForeign {
			t.Errorf("a foreign plan breaks the invariants: %+v", foreign)
		}
		if err != nil {
			return
		}
		again, err := Parse("tasks.json", p.Marshal())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("read again it is %+v, %v; was %+v", again, err, p)
		}
		var loose Plan
		if err := json.Unmarshal(content, &loose); err != nil || !reflect.DeepEqual(loose.Snapshot(), p.Snapshot()) {
			t.Errorf("encoding/json finds %+v, %v; Parse %+v", loose.Snapshot(), err, p.Snapshot())
		}
		for _, m := range modes {
			_, _ = p.Next(m, Rules{})
		}
		_, _ = p.Order()
	})
}
