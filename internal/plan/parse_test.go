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

	"github.com/ralph-loop/ralph/internal/fake/archive"
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

// TestParsePlanFields: each field of a story with what it may be and what it may not be: the lines of
// testdata/plans/fields.txt are a key, a value, nothing where it is missing, and what is said of it, parted by tabs.
func TestParsePlanFields(t *testing.T) {
	for line := range strings.Lines(string(fileOf(t, "fields.txt"))) {
		row := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		_, err := Parse("tasks.json", []byte(fileWith(row[0], row[1])))
		if got := problemsOf(t, err); strings.Join(got, "\n") != row[2] {
			t.Errorf("%s %.40s: got %q, want %q", row[0], row[1], got, row[2])
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

// TestParsePlanFile: what is around the stories, and that all is JSON. The cases of testdata/mistakes.txtar are files as
// Parse reads them, or read.json and foreign.json as Read does, and what is said of them.
func TestParsePlanFile(t *testing.T) {
	const notJSON = "; must be one object, without comments and without a comma after the last item\n"
	of := func(text, content string) archive.Case {
		return archive.Case{Text: text, Files: map[string]string{"tasks.json": content}}
	}
	for _, c := range append(archive.Cases(t, "testdata/mistakes.txtar"),
		of("the file begins with a byte order mark; save it as UTF-8 without one\n", "\ufeff"+fileOfStories("")),
		of("line 2, column 12 is not UTF-8; save the file as UTF-8\n", "{\n\"project\":\"\xff\"}"),
		of("line 1, column 2: this is not JSON: invalid character '\\x00' looking for beginning of object key string"+notJSON, "{\x00\"\x00}\x00"),
		of("line 1, column 75: values are nested more than 64 deep; a plan has four levels\n",
			strings.Replace(fileOfStories(""), `"P"`, strings.Repeat("[", 5000)+strings.Repeat("]", 5000), 1)),
		of("line 1, column 50001: this is not JSON: invalid character '{' exceeded max depth"+notJSON, strings.Repeat(`{"a":`, 100_000)),
		of("the file has 10485833 bytes; must be at most 4194304\n", strings.Repeat(" ", 10<<20)+fileOfStories("")),
		of("userStories has 1001 stories; must be at most 1000\n", fileOfStories(strings.Repeat("{},", 1000)+"{}"))) {
		for file, content := range c.Files {
			var err error
			isForeign := false
			if file == "tasks.json" {
				_, err = Parse("tasks.json", []byte(content))
			} else {
				_, isForeign, err = Read("tasks.json", []byte(content))
			}
			if got := strings.Join(problemsOf(t, err), "\n"); got != strings.TrimSuffix(c.Text, "\n") || isForeign != (file == "foreign.json") {
				t.Errorf("%s: foreign %v, got %q\nwant %q", c.Name, isForeign, got, c.Text)
			}
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
