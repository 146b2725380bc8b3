package plan

import (
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
