package plan

import (
	"strings"
	"testing"
)

// TestReadForeignPlan: a prd.json of the common layout becomes a plan of ours, which breaks none of our rules.
func TestReadForeignPlan(t *testing.T) {
	p, foreign, err := Read("prd.json", fileOf(t, "prd.json"))
	if err != nil || !foreign {
		t.Fatalf("foreign %t, %v", foreign, err)
	}
	if got, want := string(p.Marshal()), string(fileOf(t, "prd.tasks.json")); got != want {
		t.Errorf("it became\n%s", got)
	}
	if broken := p.Invariants(Rules{ReviewCap: 5}); len(broken) > 0 {
		t.Errorf("%q", told(broken))
	}
	if next, ok := p.Next(p.Mode(Rules{}), Rules{}); !ok || next.ID != "3" {
		t.Errorf("next is %+v", next)
	}
	again, foreign, err := Read("tasks.json", p.Marshal())
	if err != nil || foreign || string(again.Marshal()) != string(p.Marshal()) {
		t.Errorf("read again: foreign %t, %v", foreign, err)
	}
}

func TestReadPlan(t *testing.T) {
	for name, row := range map[string]struct {
		content string
		foreign bool
		want    string
	}{
		"ours": {fileWith("notes", `""`), false, ""},
		"half ours": {fileWith("reviewStatus", ""), false,
			"story US-001: reviewStatus is missing; every story has it"},
		"no stories": {fileOfStories(""), false, "userStories is empty; a plan needs at least one story"},
		"a cycle": {fileWith("dependsOn", `["US-001"]`), false,
			"stories wait for each other: US-001 → US-001; take one of these out of dependsOn"},
		"none of it": {fileWith("dependsOn", `["X"]`), false,
			`story US-001 depends on "X", which is no story here; add it, or take it out of dependsOn`},
		"not JSON": {`{`, false, "line 1, column 1: this is not JSON: unexpected end of JSON input; must be " +
			"one object, without comments and without a comma after the last item"},
		"foreign": {`{"project":"P","userStories":[{"id":1,"title":"T","acceptanceCriteria":["c"],"dependencies":[]}]}`, true, ""},
		"foreign, empty": {`{"project":"P","userStories":[{"id":1.5,"title":"T","acceptanceCriteria":[],"passes":"yes"}]}`,
			true, "story number 1: id is 1.5 (a number); must be a string\nstory number 1: acceptanceCriteria is empty; " +
				"must be a list with at least one string\nstory number 1: passes is \"yes\" (a string); must be true or false"},
		"foreign, miscased": {`{"project":"P","userStories":[{"id":"A","title":"T","acceptanceCriteria":["c"],"ReviewStatus":"approved"}]}`, true, `story A: "ReviewStatus" is no key, and looks like one; write it "reviewStatus"`},
		"no objects":        {`{"project":"P","userStories":[1,null]}`, true, "branchName"},
		"no project": {`{"userStories":[{"id":1,"title":"T","acceptanceCriteria":["c"]}]}`, true,
			"project is missing; every plan has it\nbranchName is missing; every plan has it"},
	} {
		p, foreign, err := Read("tasks.json", []byte(row.content))
		got := strings.Join(problemsOf(t, err), "\n")
		if name == "no objects" {
			if !strings.Contains(got, "story number 1 is 1 (a number); must be an object") ||
				!strings.Contains(got, "story number 2 is null") {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if got != row.want || foreign != row.foreign {
			t.Errorf("%s: foreign %t, got %q, want %q", name, foreign, got, row.want)
		}
		if err == nil && p.BranchName != "ralph/p" {
			t.Errorf("%s: branch %q", name, p.BranchName)
		}
	}
}
