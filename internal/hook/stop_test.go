package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/plan"
)

// TestUncommitted reads what git status says: renamed files have two names, and ralph's own files do not count.
func TestUncommitted(t *testing.T) {
	for status, want := range map[string][]string{
		"":                                   nil,
		" M a.go\x00?? b c.txt\x00":          {` M "a.go"`, `?? "b c.txt"`},
		"R  new.go\x00old.go\x00 D gone\x00": {`R  "new.go"`, ` D "gone"`},
		"?? .ralph-active\x00?? .ralph/\x00?? .ralph.lock\x00?? .ralph_state.md\x00?? sub/.ralph/runs/x\x00": nil,
		"R  .ralph-active\x00a.go\x00?? b\x00": {`?? "b"`},
		"?? .ralphx\x00?? \x1b[31mred\x00":     {`?? ".ralphx"`, `?? "\x1b[31mred"`},
		"x\x00":                                nil,
	} {
		if got := Uncommitted([]byte(status)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", status, got, want)
		}
	}
}

const soundPlan = `{"project":"p","branchName":"b","description":"d","userStories":[{"id":"US-001","title":"T","acceptanceCriteria":["c"],"priority":1,"passes":false,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":""}]}`

// TestStopOrder: everything that the first failing check has found is said, and nothing of the later ones; git is asked
// last.
func TestStopOrder(t *testing.T) {
	active,
		_ := ReadActive(
		[]byte(
			`{"iterationMode":"review","preIterationSnapshot":{"US-001":{"passes":false,"reviewStatus":"needs_review","reviewCount":0}}}`))
	never := func() ([]byte, error) { t.Error("git is asked"); return nil, nil }
	two := strings.Replace(soundPlan, `"acceptanceCriteria":["c"]`, `"acceptanceCriteria":[]`, 1)
	two = strings.Replace(two, `"passes":false`, `"passes":1`, 1)
	block, _ := Stop(Facts{Active: active, PlanName: "ralph/tasks.json", Plan: []byte(two), Status: never})
	if !strings.Contains(block, "acceptanceCriteria") || !strings.Contains(block, "passes") {
		t.Error(block)
	}
	block, _ = Stop(Facts{Active: active, PlanName: "ralph/tasks.json", Plan: []byte(soundPlan), Status: never})
	if !strings.Contains(block, "This iteration is for review") || !strings.Contains(block, "US-001") {
		t.Error(block)
	}
	active.SkipReview = true
	block, warnings := Stop(Facts{Active: active, PlanName: "ralph/tasks.json", Plan: []byte(soundPlan),
		Status: func() ([]byte, error) { return nil, errors.New("no git") }})
	if block != "" || len(warnings) != 1 || !strings.Contains(warnings[0], "no git") {
		t.Error(block, warnings)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "?? f%d\x00", i)
	}
	block, _ = Stop(Facts{Active: active, PlanName: "ralph/tasks.json", Plan: []byte(soundPlan),
		Status: func() ([]byte, error) { return []byte(many.String()), nil }})
	if !strings.HasSuffix(block, "- and 150 more") {
		t.Error(block)
	}
}

func TestReadActive(t *testing.T) {
	for text, c := range map[string]struct {
		want     Active
		problems int
	}{
		`{}`: {Active{Rules: plan.Rules{ReviewCap: 5}, RalphDir: "ralph"}, 0},
		`{"skipReview":true,"reviewCap":2,"iterationMode":"review","ralphDir":"p","planFile":"x.json"}`: {
			Active{Rules: plan.Rules{SkipReview: true, ReviewCap: 2}, Mode: plan.Review, RalphDir: "p", PlanFile: "x.json"}, 0},
		`{"reviewCap":"2","iterationMode":"sleep","skipReview":null,"ralphDir":""}`: {Active{Rules: plan.Rules{ReviewCap: 5},
			RalphDir: "ralph"}, 2},
		`{"reviewCap":-1,"preIterationSnapshot":[]}`: {Active{Rules: plan.Rules{ReviewCap: 5},
			RalphDir: "ralph"}, 1},
		``: {Active{Rules: plan.Rules{ReviewCap: 5}, RalphDir: "ralph"}, 1},
	} {
		got, problems := ReadActive([]byte(text))
		if fmt.Sprint(got) != fmt.Sprint(c.want) || len(problems) != c.problems {
			t.Errorf("%s: %+v, %q", text, got, problems)
		}
	}
}

func BenchmarkStop(b *testing.B) {
	active,
		_ := ReadActive(
		[]byte(
			`{"iterationMode":"implement","preIterationSnapshot":{"US-001":{"passes":false,"reviewStatus":null,"reviewCount":0}}}`))
	for b.Loop() {
		if block, _ := Stop(Facts{Active: active, PlanName: "ralph/tasks.json", Plan: []byte(soundPlan),
			Status: func() ([]byte, error) { return nil, nil }}); block != "" {
			b.Fatal(block)
		}
	}
}
