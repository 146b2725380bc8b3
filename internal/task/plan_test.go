package task

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestPlanRoundTrip: what Marshal writes is what was read, with the fields that nobody knows, through a file and through a record.
func TestPlanRoundTrip(t *testing.T) {
	content := read(t, "testdata/plans/tasks.json")
	p, err := ParsePlan("tasks.json", content)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.Marshal()); got != string(content) {
		t.Errorf("written again it is\n%s", got)
	}
	record, err := json.Marshal(struct{ Plan Plan }{p})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Plan Plan }
	if err := json.Unmarshal(record, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Plan, p) {
		t.Errorf("through a record it is\n%+v, was\n%+v", back.Plan, p)
	}
}
