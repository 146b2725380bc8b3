package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// The front matter can be read back, with its keys in the order of the specification (S0-29…S0-38), whatever the names
// in it are.
func TestStateFileFrontMatter(t *testing.T) {
	for name, v := range map[string]View{"third": runningThird(), "first": runningFirst(), "hostile": hostile(),
		"stuck": stuckRun(), "roles": withRoles()} {
		_, rest, _ := strings.Cut(StateFile(v), "---\n")
		matter, _, ok := strings.Cut(rest, "\n---\n")
		if !ok {
			t.Fatalf("%s: no front matter in %q", name, rest)
		}
		var got struct {
			TaskID        string    `yaml:"task_id"`
			MaxIterations int       `yaml:"max_iterations"`
			LastGate      string    `yaml:"last_gate"`
			ErrorHash     string    `yaml:"error_hash"`
			Timestamp     time.Time `yaml:"timestamp"`
			Files         []string  `yaml:"files_modified"`
			Stuck         int       `yaml:"stuck_count"`
			Shifts        int       `yaml:"strategy_shifts"`
		}
		if err := yaml.Unmarshal([]byte(matter), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.TaskID != "issue-42" || got.MaxIterations != 5 || got.LastGate != lastGate(v.State) ||
			!got.Timestamp.Equal(v.State.At) {
			t.Errorf("%s: read back as %+v", name, got)
		}
		if got.Stuck != v.State.StuckCount() || got.Shifts != v.State.Shifts() {
			t.Errorf("%s: stuck %d, shifts %d", name, got.Stuck, got.Shifts)
		}
		var keys []string
		for _, m := range regexp.MustCompile(`(?m)^(\w+):`).FindAllStringSubmatch(matter, -1) {
			keys = append(keys, m[1])
		}
		want := []string{"task_id", "iteration", "max_iterations", "last_gate", "exit_code", "error_hash", "timestamp",
			"stuck_count", "strategy_shifts", "files_modified"}
		if !slices.Equal(keys, want) {
			t.Errorf("%s: keys %v", name, keys)
		}
	}
}

// A hash of digits only stays a text: 00000012 is not twelve.
func TestStateFileHashStaysText(t *testing.T) {
	for _, hash := range []string{"00000012", "12345678", "1234e567", "0x123456", "deadbeef"} {
		s := sample.Begin(nil)
		f := sample.TestFailure
		f.Hash = hash
		s.Iterate(1, loop.Implement, "", f)
		_, rest, _ := strings.Cut(StateFile(view(s)), "---\n")
		matter, _, _ := strings.Cut(rest, "\n---\n")
		var got map[string]any
		if err := yaml.Unmarshal([]byte(matter), &got); err != nil {
			t.Fatal(err)
		}
		if got["error_hash"] != hash {
			t.Errorf("error_hash %q reads back as %#v", hash, got["error_hash"])
		}
	}
}

// An output is verbatim within a hundred lines (S0-43, S0-44), also when it was cut before it got here.
func TestStateFileKeepsAHundredLines(t *testing.T) {
	var b strings.Builder
	for i := range 250 {
		fmt.Fprintf(&b, "line %d  \tof `it`\n", i)
	}
	for name, output := range map[string]string{"whole": b.String(), "cut before": loop.Excerpt(b.String())} {
		s := sample.Begin(nil)
		s.Iterate(1, loop.Implement, "", sample.Fail("go test ./...", "exit code 1", output))
		got := StateFile(view(s))
		want := "## Test Output (verbatim)\n```\n" + loop.Excerpt(b.String()) + "```\n"
		if !strings.Contains(got, want) || !strings.Contains(got, "[... 150 lines truncated ...]") {
			t.Errorf("%s: not verbatim within a hundred lines:\n%s", name, got)
		}
	}
}

// The table holds the last three attempts (S0-45).
func TestStateFileWindow(t *testing.T) {
	_, table, _ := strings.Cut(StateFile(capped()), "## Attempt History\n")
	if rows := strings.Count(table, "\n") - 2; rows != 3 || !strings.Contains(table, "| 5 | go test ./... |") ||
		strings.Contains(table, "| 2 |") {
		t.Errorf("the history is\n%s", table)
	}
}

// It is a view: the records of a run, written down and read back, give the same bytes at every step.
func TestStateFileIsAView(t *testing.T) {
	s := sample.Begin(nil)
	for n := 1; n <= 5; n++ {
		s.As(n, task.Tester, loop.Tier(n/4))
		s.Iterated(n, "said", sample.TestFailure, sample.AsksChange, sample.Weakened)
	}
	end(s, loop.Capped, "used up", "wip/x")
	var live loop.State
	for i, r := range s.Records {
		live = live.With(r)
		var again []loop.Record
		text, err := json.Marshal(s.Records[:i+1])
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil {
			t.Fatal(err)
		}
		if was, now := StateFile(View{State: loop.Fold(again)}), StateFile(View{State: live}); was != now {
			t.Errorf("after %d records the journal read back gives\n%s\nthe run had\n%s", i+1, was, now)
		}
	}
}

// What readers and qa say stands in the reviewer's section, everything else in the tests'.
func TestStateFileSections(t *testing.T) {
	tests := map[string]struct {
		verdict loop.Verdict
		review  bool
	}{
		"the review":           {loop.Verdict{Check: loop.ReviewCheck, Output: "said so"}, true},
		"the reviewer's word":  {loop.Verdict{Check: "verify reviewer", Role: task.Reviewer, Output: "said so"}, true},
		"qa's word":            {loop.Verdict{Check: "verify qa", Role: task.QA, Output: "said so"}, true},
		"the tester's command": {loop.Verdict{Check: "verify tester", Role: task.Tester, Output: "said so"}, false},
		"a check":              {loop.Verdict{Check: "make test", Output: "said so"}, false},
	}
	for name, tt := range tests {
		s := sample.Begin(nil)
		s.Iterate(1, loop.Implement, "", tt.verdict)
		review, _, _ := strings.Cut(StateFile(view(s)), "## Test Output")
		if strings.Contains(review, "said so") != tt.review {
			t.Errorf("%s: in the reviewer's section: %v", name, !tt.review)
		}
	}
}
