package cleanup

import (
	"strings"
	"testing"
)

// told is a plan in few words.
func told(p Plan) string {
	var parts []string
	add := func(what string, items []Item) {
		for _, i := range items {
			text := what + " " + i.Name
			if i.Reason != "" {
				text += " (" + i.Reason + ")"
			}
			parts = append(parts, text)
		}
	}
	add("branch", p.Branches)
	add("run", p.Runs)
	for _, name := range p.Trimmed {
		parts = append(parts, "trim "+name)
	}
	add("stays", p.Kept)
	if p.Busy {
		parts = append(parts, "busy")
	}
	return strings.Join(parts, "; ")
}

// TestDecide: a row is a rule.
func TestDecide(t *testing.T) {
	over := func(name, task, outcome string) Run {
		return Run{Name: name, Task: task, Branch: "ralph/" + task, Outcome: outcome, Over: true, Extra: true}
	}
	ralph := func(task string, alone int) Branch { return Branch{Name: "ralph/" + task, Task: task, Alone: alone} }
	for _, c := range []struct {
		rule     string
		runs     []Run
		branches []Branch
		drop     []string
		want     string
	}{
		{"what is merged goes; that the task is done stays known", []Run{over("1", "a", "done")}, []Branch{ralph("a", 0)},
			nil, "branch ralph/a; trim 1"},
		{"what failed and is elsewhere goes with its record", []Run{over("1", "a", "capped")}, []Branch{ralph("a", 0)}, nil,
			"branch ralph/a; run 1 (a capped)"},
		{"work that is nowhere else stays, with its record", []Run{over("1", "a", "capped")}, []Branch{ralph("a", 2)}, nil,
			"trim 1; stays ralph/a (2 commits that are nowhere else; --drop ralph/a removes it)"},
		{"unless it is named: then it is not done either", []Run{over("1", "a", "done")},
			[]Branch{ralph("a", 1), ralph("b", 1)}, []string{"ralph/a"},
			"branch ralph/a (with 1 commit that is nowhere else); run 1 (a done); stays ralph/b (1 commit that is nowhere " +
				"else; --drop ralph/b removes it)"},
		{"all names every one", []Run{over("1", "a", "stuck")}, []Branch{ralph("a", 1)}, []string{"all"},
			"branch ralph/a (with 1 commit that is nowhere else); run 1 (a stuck)"},
		{"an older run of a task goes", []Run{over("1", "a", "stuck"), over("2", "a", "done")}, nil, nil,
			"run 1 (a stuck); trim 2"},
		{"a run that is to go on stays", []Run{{Name: "1", Task: "a", Branch: "ralph/a"}}, []Branch{ralph("a", 0)},
			[]string{"all"},
			"stays ralph/a (its run can resume); stays run 1 (its run can resume); busy"},
		{"a run that waits does", []Run{{Name: "1", Task: "a", Branch: "ralph/a", Outcome: "waiting"}},
			[]Branch{ralph("a", 3)}, nil,
			"stays ralph/a (its run can resume); stays run 1 (its run can resume); busy"},
		{"one that a later run took the place of does not",
			[]Run{{Name: "1", Task: "a", Branch: "ralph/a"}, over("2", "a", "capped")}, nil, nil, "run 1 (a); run 2 (a capped)"},
		{"a plan that is not archived stays",
			[]Run{{Name: "1", Task: "plan", Branch: "ralph/plan", Outcome: "done", Over: true, Plan: true}},
			[]Branch{ralph("plan", 0)}, []string{"all"},
			"stays ralph/plan (its plan is not archived; ralph plan archive does that); stays run 1 (its plan is not " +
				"archived; ralph plan archive does that); busy"},
		{"so do its earlier runs", []Run{{Name: "1", Task: "plan", Branch: "ralph/plan", Outcome: "capped", Over: true,
			Plan: true}, {Name: "2", Task: "plan", Branch: "ralph/plan", Outcome: "done", Over: true, Plan: true}}, nil, nil,
			"stays run 1 (its plan is not archived; ralph plan archive does that); stays run 2 (its plan is not archived; " +
				"ralph plan archive does that); busy"},
		{"where somebody stands stays", []Run{over("1", "a", "done")}, []Branch{{Name: "ralph/a", Used: "/work"}},
			[]string{"all"}, "trim 1; stays ralph/a (it is checked out in /work)"},
		{"a record that cannot be read stays", []Run{{Name: "1", Task: "a", Branch: "ralph/a", Broken: true}}, nil, nil,
			"stays run 1 (the record of its run cannot be read)"},
		{"prompts have no branch", []Run{{Name: "1", Outcome: "done", Over: true}, {Name: "2"},
			{Name: "3", Outcome: "capped", Over: true}}, nil, nil,
			"run 1 (done); run 3 (capped); stays run 2 (it did not finish); busy"},
		{"a branch of nobody's record", nil, []Branch{{Name: "wip/archive/ralph-fail-a-20260101-000000"}}, nil,
			"branch wip/archive/ralph-fail-a-20260101-000000"},
	} {
		p, err := Decide(c.runs, c.branches, c.drop)
		if err != nil || told(p) != c.want {
			t.Errorf("%s:\n got %s\nwant %s\n(%v)", c.rule, told(p), c.want, err)
		}
	}
	if _, err := Decide(nil, nil, []string{"main"}); err == nil ||
		!strings.Contains(err.Error(), "no run has made a branch of that name") {
		t.Error(err)
	}
}
