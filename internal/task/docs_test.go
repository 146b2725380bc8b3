package task

import (
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// TestDocumentedExamples: the examples of docs/tasks.md are what they say they are.
func TestDocumentedExamples(t *testing.T) {
	document := string(read(t, "../../docs/tasks.md"))
	example := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindStringSubmatch(document)
	if example == nil {
		t.Fatal("docs/tasks.md has no example of a task")
	}
	got, err := ParseFile("example.yaml", []byte(example[1]))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Roles {
		if got.Completion.For(r) == nil {
			t.Errorf("the example says nothing about the %s", r)
		}
	}
	for _, key := range documentedKeys() {
		if name := regexp.MustCompile(`\w+$`).FindString(key); !regexp.MustCompile(`\b` + name +
			`:`).MatchString(example[1]) {
			t.Errorf("the example does not show %s", key)
		}
	}
	issue := regexp.MustCompile("(?ms)^````markdown\n(.*?)^````$").FindStringSubmatch(document)
	if issue == nil {
		t.Fatal("docs/tasks.md has no example of an issue")
	}
	if c, _, err := (source{name: "issue"}).criteria(issue[1]); err != nil || c == nil || len(c.Acceptance) != 2 ||
		c.Outcome == "" || c.Reviewer == nil {
		t.Errorf("the example of an issue: %+v, %v", c, err)
	}
}

// TestDocumentedKeys: the table of docs/tasks.md names every key of the form, in its order, and no other.
func TestDocumentedKeys(t *testing.T) {
	document := string(read(t, "../../docs/tasks.md"))
	var shown []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(document, -1) {
		shown = append(shown, row[1])
	}
	if want := documentedKeys(); !slices.Equal(shown, want) {
		t.Errorf("docs/tasks.md has the keys\n%q, want\n%q", shown, want)
	}
}

// documentedKeys are the keys of the form as the table writes them.
func documentedKeys() []string {
	var keys []string
	for _, level := range []struct {
		prefix string
		of     reflect.Type
	}{
		{"", reflect.TypeFor[Form]()}, {"completion.", reflect.TypeFor[Completion]()},
		{"completion.ROLE.", reflect.TypeFor[Criteria]()},
		{"….verification_config.", reflect.TypeFor[Verification]()}, {"….stages[].", reflect.TypeFor[Stage]()},
	} {
		for _, key := range keysOf(level.of) {
			keys = append(keys, level.prefix+key)
		}
	}
	return keys
}
