package loop

import (
	"slices"
	"testing"
)

func TestConcernName(t *testing.T) {
	for text, want := range map[string]string{
		"TestDiscount":         "TestDiscount",
		"TestPrice/of two":     "TestPrice/of_two",
		"adds  two\nnumbers":   "adds_two_numbers",
		"lib/x_test.py":        "lib/x_test.py",
		"says \"no\", `twice`": "says__no____twice_",
	} {
		if got := ConcernName(text); got != want {
			t.Errorf("ConcernName(%q) = %q, want %q", text, got, want)
		}
	}
}

// What is accepted, and what stays open.
func TestAcceptance(t *testing.T) {
	two := []Verdict{
		{Check: "weakened tests", Severity: Soft, Concerns: []Concern{{Name: "TestA"}, {Name: "TestB"}}},
		{Check: "make test", Severity: Soft, Concerns: []Concern{{Name: "TestB"}}}, // one name, one answer
		{Check: "passed", Pass: true, Concerns: []Concern{{Name: "TestC"}}},
	}
	judged := func(accept ...Acceptance) State {
		return Fold([]Record{
			{Type: Started, Start: &Start{Run: "r", Accept: accept}},
			{Type: TurnBegun, Iteration: 1}, {Type: Turned, Iteration: 1, Turn: &Turn{Class: OK}},
			{Type: Committed, Iteration: 1, Commit: &Commit{SHA: "c"}},
			{Type: Judged, Iteration: 1, Verdicts: two},
		})
	}
	resumed := func(names ...string) State {
		var list []Acceptance
		for _, name := range names {
			list = append(list, Acceptance{Name: name, By: "maintainer"})
		}
		return judged().With(Record{Type: Resumed, Resume: &Resume{Accept: list}})
	}
	for _, row := range []struct {
		name string
		s    State
		want []string
	}{
		{"nobody has accepted anything", judged(), []string{"TestA", "TestB"}},
		{"one by name", resumed("TestA"), []string{"TestB"}},
		{"both by name", resumed("TestB", "TestA"), nil},
		{"all", resumed("all"), nil},
		{"another name", resumed("TestC"), []string{"TestA", "TestB"}},
		{"part of a name", resumed("Test"), []string{"TestA", "TestB"}},
		{"in advance", judged(Acceptance{Name: "TestA"}), []string{"TestB"}},
		{"all in advance", judged(Acceptance{Name: "all"}), nil},
	} {
		if got := Names(row.s.Open(two)); !slices.Equal(got, row.want) {
			t.Errorf("%s: open are %q, want %q", row.name, got, row.want)
		}
	}
	// "all" said of two does not hold for a third that comes later.
	later := []Verdict{{Check: "weakened tests", Severity: Soft, Concerns: []Concern{{Name: "TestLater"}}}}
	if got := Names(resumed("all").Open(later)); !slices.Equal(got, []string{"TestLater"}) {
		t.Errorf("after all was accepted of two, a third is %q, want it open", got)
	}
	if accepted, rest := resumed("TestA").AcceptedBy(two[0]); len(accepted) != 1 || accepted[0].By != "maintainer" ||
		!rest {
		t.Errorf("of two concerns, one is accepted: got %+v, rest %v", accepted, rest)
	}
}
