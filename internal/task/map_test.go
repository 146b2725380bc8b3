package task

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestMapReachesEveryText: what is not mapped would keep a secret.
func TestMapReachesEveryText(t *testing.T) {
	content, err := os.ReadFile("testdata/jwt.yaml")
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseFile("jwt.yaml", content)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(read.Completion)
	got := read.Completion.Map(func(s string) string {
		if s == "" {
			return ""
		}
		return "#"
	})
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"JWT", "AUTH", "pytest", "bandit", "TODO", "tests_pass", "auth", "password"} {
		if strings.Contains(string(text), word) {
			t.Errorf("%s is still there: %s", word, text)
		}
	}
	if after, _ := json.Marshal(read.Completion); string(after) != string(before) {
		t.Error("the original was changed")
	}
	if (*Completion)(nil).Map(strings.ToUpper) != nil {
		t.Error("nothing became something")
	}
}
