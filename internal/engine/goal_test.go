package engine

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestTamed has a row for what a stranger's text may not say.
func TestTamed(t *testing.T) {
	common := &task.Completion{
		Coder: &task.Criteria{
			Promise: "OURS", Method: task.External, Config: &task.Verification{Command: "make test"},
		},
	}
	theirs := &task.Completion{
		Outcome: "theirs", Coder: &task.Criteria{Promise: "THEIRS", Method: task.StringMatch, MaxIterations: 9000},
		Tester: &task.Criteria{
			Promise: "TESTED", MaxIterations: 9000,
		},
		QA: &task.Criteria{Promise: "CHECKED", MaxIterations: 2},
	}
	got := task.Merge(common, limitedTo(theirs, common, task.StringMatch))
	if got.Outcome != "theirs" || got.Coder.Promise != "OURS" || got.Coder.Method != task.External {
		t.Errorf("the settings' criteria were weakened: %+v", got.Coder)
	}
	if got.Tester.MaxIterations != task.Tester.Cap() || got.QA.MaxIterations != 2 {
		t.Errorf("turns of the tester %d, of QA %d", got.Tester.MaxIterations, got.QA.MaxIterations)
	}
	if weak := limitedTo(
		&task.Completion{Coder: &task.Criteria{Promise: "P", Method: task.StringMatch}}, nil, task.Semantic,
	); weak.Coder.Method != "" {
		t.Errorf("the method that everybody has to meet was lowered to %s", weak.Coder.Method)
	}
	if theirs.Tester.MaxIterations != 9000 {
		t.Error("the text itself was changed")
	}
}

// TestPlan has a row for who acts, how often, and what is resolved.
func TestPlan(t *testing.T) {
	criteria := &task.Completion{Acceptance: []string{"a"}}
	withQA := &task.Completion{QA: &task.Criteria{Promise: "Q"}, Coder: &task.Criteria{MaxIterations: 7}}
	number := 3
	for _, tt := range []struct {
		name     string
		set      config.Settings
		said     *task.Completion
		pipeline string
		most     int
		caps     int // of the coder
	}{
		{"nothing said", config.Settings{Review: true}, nil, "", config.TaskIterations, 0},
		{"acceptance criteria alone", config.Settings{Review: true}, criteria, "", config.TaskIterations, 0},
		{"criteria of roles", config.Settings{Review: true}, withQA, "coder reviewer qa", 7, 7},
		{"no review", config.Settings{}, withQA, "coder qa", 7, 7},
		{"a pipeline", config.Settings{Review: true, Pipeline: []string{"coder", "tester", "reviewer", "qa"}}, nil,
			"coder tester reviewer qa", 25, 15},
		{"a pipeline without a reviewer", config.Settings{Review: true, Pipeline: []string{"coder", "tester"}}, nil,
			"coder tester", 25, 15},
		{"one setting overrides all", config.Settings{Review: true, MaximumIterations: &number}, withQA, "coder reviewer qa",
			3, 0},
		{"promises are verified by a model", config.Settings{Review: true, Verification: "semantic"}, criteria,
			"coder reviewer", 15, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := Rules{Settings: tt.set}
			g := rules.resolve(task.Task{Title: "T"}, tt.said)
			var roles []string
			for _, r := range g.Pipeline {
				roles = append(roles, string(r))
			}
			if got := strings.Join(roles, " "); got != tt.pipeline || g.Most != tt.most ||
				g.Caps[task.Coder] != tt.caps {
				t.Errorf(
					"%s, at most %d, of the coder %d; want %s, %d, %d", got, g.Most, g.Caps[task.Coder], tt.pipeline,
					tt.most, tt.caps,
				)
			}
			if len(g.Pipeline) > 0 &&
				(g.Completion.Coder == nil || g.Completion.Coder.Promise == "" || g.Completion.Coder.Method == "") {
				t.Errorf("the coder's criteria are not resolved: %+v", g.Completion.Coder)
			}
		})
	}
}

// TestSameWish: a run goes on, and a task stays done, only while the same is asked for: the text, and what done means.
func TestSameWish(t *testing.T) {
	wanted := task.Task{ID: "t", Title: "T", Spec: "text", Completion: &task.Completion{Acceptance: []string{"a"}}}
	set := config.Settings{Verification: "string_match"}
	before := loop.State{Start: loop.Start{Assignment: loop.Assignment{Title: "T", Spec: "text", RequestKey: asking(set, wanted, nil)}}}
	if !SameRequest(before, set, wanted, nil) {
		t.Error("nothing has changed, and it is another wish")
	}
	other := wanted
	other.Completion = &task.Completion{Acceptance: []string{"a", "b"}}
	for name, same := range map[string]bool{
		"criteria": SameRequest(before, set, other, nil),
		"flags":    SameRequest(before, set, wanted, &task.Completion{Outcome: "o"}),
		"the settings'": SameRequest(before,
			config.Settings{Verification: "string_match", Completion: []byte(`{"outcome": "o"}`)}, wanted, nil),
		"the pipeline": SameRequest(before, config.Settings{Verification: "string_match", Pipeline: []string{"coder"}},
			wanted, nil),
		"how to verify": SameRequest(before, config.Settings{Verification: "semantic"}, wanted, nil),
		"another text": SameRequest(loop.State{Start: loop.Start{Assignment: loop.Assignment{Title: "T", Spec: "x", RequestKey: before.Start.RequestKey}}}, set,
			wanted, nil),
		"no criteria":    SameRequest(before, set, task.Task{ID: "t", Title: "T", Spec: "text"}, nil),
		"criteria, none": SameRequest(loop.State{Start: loop.Start{Assignment: loop.Assignment{Title: "T", Spec: "text"}}}, set, wanted, nil),
	} {
		if same {
			t.Errorf("%s changed, and it is the same wish", name)
		}
	}
}
