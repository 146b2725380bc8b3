package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// planned reads testdata/plans/tasks.json.
func planned(t testing.TB) Plan {
	t.Helper()
	p, err := Parse("tasks.json", fileOf(t, "tasks.json"))
	noError(t, err)
	return p
}

// TestPlanRoundTrip: what Marshal writes is what was read, with the fields that nobody knows, through a file and
// through a record.
func TestPlanRoundTrip(t *testing.T) {
	content := fileOf(t, "tasks.json")
	p := planned(t)
	if got := string(p.Marshal()); got != string(content) {
		t.Errorf("written again it is\n%s", got)
	}
	if got := string(p.Story("US-002").Extra["estimate"]); got != `{"points":3,"why":"<b> & \u00e9"}` {
		t.Errorf("the unknown field is %s", got)
	}
	record, err := json.Marshal(struct{ Plan Plan }{p}) // which escapes < and &
	noError(t, err)
	var back struct{ Plan Plan }
	noError(t, json.Unmarshal(record, &back))
	if !reflect.DeepEqual(back.Plan, p) {
		t.Errorf("through a record it is\n%+v, was\n%+v", back.Plan, p)
	}
	story, err := json.Marshal(p.Stories[1])
	noError(t, err)
	var again Story
	if err := json.Unmarshal(story, &again); err != nil || !reflect.DeepEqual(again, p.Stories[1]) {
		t.Errorf("through a record the story is %+v, %v", again, err)
	}
}

// TestMarshalStaysReadable: a plan near the limit of what is read is written so that it can be read.
func TestMarshalStaysReadable(t *testing.T) {
	p := Plan{}
	for _, s := range manyStories(maxStories) {
		s.DependsOn = nil
		s.AcceptanceCriteria = strings.Split(strings.Repeat("x ", 40), " ")[:40]
		s.Description = strings.Repeat("d", 3400)
		p.Stories = append(p.Stories, s)
	}
	content := p.Marshal()
	if len(content) > maxPlan || strings.Contains(string(content), "\n  ") {
		t.Fatalf("%d bytes, and indented", len(content))
	}
	if again, err := Parse("tasks.json", content); err != nil || len(again.Stories) != maxStories {
		t.Errorf("%d stories, %v", len(again.Stories), err)
	}
}

// TestSnapshotJSON: S4-17. A status that Parse would not read is none here either.
func TestSnapshotJSON(t *testing.T) {
	const text = `{"A":{"passes":false,"reviewStatus":null,"reviewCount":0},"B":{"passes":true,"reviewStatus":"approved","reviewCount":1}}`
	var back Snapshot
	if err := json.Unmarshal([]byte(text), &back); err != nil || back["B"] != (ReviewState{true, Approved, 1}) {
		t.Errorf("read: %+v, %v", back, err)
	}
	if got, err := json.Marshal(back); err != nil || string(got) != text {
		t.Errorf("written: %s, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"A":{"reviewStatus":"Approved"}}`), &back); err == nil {
		t.Errorf("an unknown status: %+v", back)
	}
}
