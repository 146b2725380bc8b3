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
	if err != nil {
		t.Fatal(err)
	}
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
	story, err := json.Marshal(p.Stories[1])
	if err != nil {
		t.Fatal(err)
	}
	var again Story
	if err := json.Unmarshal(story, &again); err != nil || !reflect.DeepEqual(again, p.Stories[1]) {
		t.Errorf("through a record the story is %+v, %v", again, err)
	}
}

func TestMarshalEmptyPlan(t *testing.T) {
	const want = `{
  "project": "",
  "branchName": "",
  "description": "",
  "verifyCommands": [],
  "userStories": []
}
`
	if got := string(Plan{}.Marshal()); got != want {
		t.Errorf("got %s", got)
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

func TestReviewStatusJSON(t *testing.T) {
	for _, row := range []struct {
		text string
		want ReviewStatus
		bad  bool
	}{
		{`null`, Unreviewed, false},
		{`"needs_review"`, NeedsReview, false},
		{`"changes_requested"`, ChangesRequested, false},
		{`"approved"`, Approved, false},
		{`""`, "", true},
		{`"Approved"`, "", true},
		{`true`, "", true},
	} {
		var s ReviewState
		err := json.Unmarshal([]byte(`{"reviewStatus":`+row.text+`}`), &s)
		if row.bad != (err != nil) || s.ReviewStatus != row.want {
			t.Errorf("%s: %q, %v", row.text, s.ReviewStatus, err)
			continue
		}
		if row.bad {
			continue
		}
		if got, err := json.Marshal(s.ReviewStatus); err != nil || string(got) != row.text {
			t.Errorf("%s is written as %s, %v", row.text, got, err)
		}
	}
	got, err := json.Marshal(Snapshot{"US-001": {}, "US-002": {true, Approved, 1}})
	const want = `{"US-001":{"passes":false,"reviewStatus":null,"reviewCount":0},"US-002":{"passes":true,"reviewStatus":"approved","reviewCount":1}}`
	if err != nil || string(got) != want { // S4-17
		t.Errorf("a snapshot is %s, %v", got, err)
	}
}
