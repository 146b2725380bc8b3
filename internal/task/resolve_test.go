package task

import (
	"reflect"
	"strings"
	"testing"
)

// TestResolve: what criteria leave open is the role's (S2-71, S2-76), and nothing asks a model unless somebody said so
// (C13).
func TestResolve(t *testing.T) {
	list := []string{"a", "b"}
	command, stages := &Verification{Command: "make"}, &Verification{Stages: []Stage{{Name: "one"}}}
	for _, c := range []struct {
		name   string
		in     *Criteria
		def    Method
		want   Criteria
		checks Questions
	}{
		{name: "nothing", want: Criteria{Promise: "TESTS_PASSED", Description: "Complete tester stage for: t",
			Method: StringMatch}},
		{name: "a default", def: Semantic,
			want:   Criteria{Promise: "TESTS_PASSED", Description: "Complete tester stage for: t", Method: Semantic},
			checks: list},
		{name: "a command", in: &Criteria{Promise: "P", Description: "d", Config: command, MaxIterations: 3}, def: Semantic,
			want: Criteria{Promise: "P", Description: "d", Method: External, MaxIterations: 3}},
		{name: "stages", in: &Criteria{Promise: "P", Description: "d", Config: stages},
			want: Criteria{Promise: "P", Description: "d", Method: MultiStage}},
		{name: "a method", in: &Criteria{Promise: "P", Description: "d", Method: StringMatch}, def: Semantic,
			want: Criteria{Promise: "P", Description: "d", Method: StringMatch}},
		{name: "semantic of nothing", in: &Criteria{Promise: "P", Description: "d", Method: Semantic},
			want: Criteria{Promise: "P", Description: "d", Method: Semantic}, checks: list},
		{name: "semantic of patterns",
			in: &Criteria{Promise: "P", Description: "d", Method: Semantic,
				Config: &Verification{NegativePatterns: []string{"TODO"}}},
			want: Criteria{Promise: "P", Description: "d", Method: Semantic}},
		{name: "white space", in: &Criteria{Promise: " "},
			want: Criteria{Promise: "TESTS_PASSED", Description: "Complete tester stage for: t", Method: StringMatch}},
	} {
		got := c.in.Resolve(Tester, "t", list, c.def)
		if !reflect.DeepEqual(got.Config.CheckFor, c.checks) {
			t.Errorf("%s: check_for = %q, want %q", c.name, got.Config.CheckFor, c.checks)
		}
		if got.Config = nil; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	for role, want := range map[Role]string{Coder: "IMPLEMENTATION_COMPLETE", Reviewer: "REVIEW_PASSED",
		Tester: "TESTS_PASSED", QA: "QA_PASSED", "scribe": "STAGE_COMPLETE"} {
		if got := (*Criteria)(nil).Resolve(role, "t", nil, ""); got.Promise != want {
			t.Errorf("%s promises %s, want %s", role, got.Promise, want)
		}
	}
}

// TestMerge: settings below the task, the task below the flags, key by key.
func TestMerge(t *testing.T) {
	settings := &Completion{
		Outcome: "settings", Acceptance: []string{"s"},
		Coder:  &Criteria{Promise: "S", Description: "s", Config: &Verification{Command: "make"}, MaxIterations: 4},
		Tester: &Criteria{Promise: "T"},
	}
	before := *settings.Coder
	got := Merge(settings, &Completion{
		Acceptance: []string{"t"}, Coder: &Criteria{Promise: "C"}, QA: &Criteria{Promise: "Q"},
	})
	want := &Completion{
		Outcome: "settings", Acceptance: []string{"t"}, Tester: &Criteria{Promise: "T"}, QA: &Criteria{Promise: "Q"},
		Coder: &Criteria{Promise: "C", Description: "s", Config: &Verification{Command: "make"}, MaxIterations: 4},
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(*settings.Coder, before) {
		t.Errorf("merged = %+v, want %+v", got, want)
	}
	for _, c := range []struct {
		name        string
		under, over Criteria
		want        Criteria
	}{
		{"another method", Criteria{Config: &Verification{Command: "make"}}, Criteria{Method: StringMatch},
			Criteria{Method: StringMatch}},
		{"the same method", Criteria{Config: &Verification{Command: "make"}}, Criteria{Method: External},
			Criteria{Method: External, Config: &Verification{Command: "make"}}},
		{"another command", Criteria{Method: External, Config: &Verification{Command: "make", Timeout: 5}},
			Criteria{Config: &Verification{Command: "go test"}}, Criteria{Config: &Verification{Command: "go test"}}},
		{"another number", Criteria{MaxIterations: 3}, Criteria{MaxIterations: 5, Description: "d"},
			Criteria{MaxIterations: 5, Description: "d"}},
	} {
		if got := Merge(&Completion{QA: &c.under}, &Completion{QA: &c.over}); !reflect.DeepEqual(*got.QA, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, *got.QA, c.want)
		}
	}
	if Merge(nil, nil) != nil || Merge(settings, nil) != settings || Merge(nil, settings) != settings {
		t.Error("nothing changes a completion")
	}
}

func TestCommands(t *testing.T) {
	c := &Completion{
		Tester: &Criteria{Config: &Verification{Command: "b"}},
		Coder:  &Criteria{Config: &Verification{Command: "a"}},
		QA: &Criteria{Config: &Verification{Stages: []Stage{{Config: &Verification{Command: "c"}}, {},
			{Config: &Verification{Command: "a"}}}}},
	}
	if got := strings.Join(c.Commands(), " "); got != "a b c" {
		t.Errorf("commands = %s", got)
	}
	if got := (*Completion)(nil).Commands(); got != nil {
		t.Errorf("commands = %q", got)
	}
}

// TestOrder: dependencies before priority before id.
func TestOrder(t *testing.T) {
	task := func(id string, priority int, needs ...string) Task {
		return Task{ID: id, Priority: priority, Dependencies: needs}
	}
	for _, c := range []struct {
		name  string
		tasks []Task
		want  string
	}{
		{"by id", []Task{task("b", 0), task("a", 0)}, "a b"},
		{"by priority", []Task{task("a", 2), task("b", 1)}, "b a"},
		{"by need", []Task{task("a", 1, "c"), task("b", 2), task("c", 3)}, "b c a"},
		{"done before", []Task{task("a", 0, "old")}, "a"},
		{"no task", []Task{task("a", 0, "gone")}, `task a depends on "gone", which is no task here`},
		{"a circle", []Task{task("a", 0, "b"), task("b", 0, "c"), task("c", 0, "b")},
			"tasks wait for each other: b → c → b; take one"},
		{"of one", []Task{task("a", 0, "a")}, "a → a"},
		{"one id", []Task{task("a", 0), task("A", 0)}, "two tasks have the id"},
		{"none", nil, ""},
	} {
		ordered, err := Order(c.tasks, func(id string) bool { return id == "old" })
		var ids []string
		for _, t := range ordered {
			ids = append(ids, t.ID)
		}
		if got := strings.Join(ids, " "); err == nil && got != c.want || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}
