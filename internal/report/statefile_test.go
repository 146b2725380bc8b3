package report

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// A hash of digits only stays a text: 00000012 is not twelve.
func TestStateFileHashStaysText(t *testing.T) {
	for _, hash := range []string{"00000012", "1234e567", "0x123456"} {
		s := sample.Begin(nil)
		f := sample.TestFailure
		f.Hash = hash
		s.Iterate(1, loop.Implement, "", f)
		_, rest, _ := strings.Cut(StateFile(view(s)), "---\n")
		text, _, _ := strings.Cut(rest, "\n---\n")
		var got map[string]any
		if err := yaml.Unmarshal([]byte(text), &got); err != nil || got["error_hash"] != hash {
			t.Errorf("error_hash %q reads back as %#v", hash, got["error_hash"])
		}
	}
}

// An output is verbatim (S0-43), as the check has kept it.
func TestStateFileKeepsAHundredLines(t *testing.T) {
	output := loop.Excerpt(strings.Repeat("a line  \tof `it`\n", 250))
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "", sample.Fail("go test ./...", "exit code 1", output))
	want := "## Test Output (verbatim)\n```\n" + output + "```\n"
	if got := StateFile(view(s)); !strings.Contains(got, want) || !strings.Contains(got, "[... 150 lines truncated ...]") {
		t.Errorf("not verbatim within a hundred lines:\n%s", got)
	}
}

// What readers and qa say is in the reviewer's section, everything else in the tests'.
func TestStateFileSections(t *testing.T) {
	for _, tt := range []struct {
		check  string
		role   task.Role
		review bool
	}{
		{loop.ReviewCheck, "", true}, {"verify reviewer", task.Reviewer, true}, {"verify qa", task.QA, true},
		{"verify tester", task.Tester, false}, {"make test", "", false},
	} {
		s := sample.Begin(nil)
		s.Iterate(1, loop.Implement, "", loop.Verdict{Check: tt.check, Role: tt.role, Output: "said so"})
		review, _, _ := strings.Cut(StateFile(view(s)), "## Test Output")
		if strings.Contains(review, "said so") != tt.review {
			t.Errorf("%s: in the reviewer's section: %v", tt.check, !tt.review)
		}
	}
}
