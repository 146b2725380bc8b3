package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

func notes(n int) []Annotation {
	list := make([]Annotation, n)
	for i := range list {
		list[i] = Annotation{Path: "a.go", Line: i + 1, Message: fmt.Sprint("finding ", i)}
	}
	return list
}

func (s *stage) ralphRun(n int) CheckRun {
	return CheckRun{
		Name: "ralph", SHA: s.sha, ExternalID: "issue-1/2", URL: "https://github.com/alice/demo/actions/runs/5",
		Conclusion: "failure",
		Title:      "two checks fail", Summary: "s", Text: "t", Annotations: notes(n),
	}
}

// TestCheckRun: made once, with all its annotations, also where an earlier process may have made it; that of another end
// is another one.
func TestCheckRun(t *testing.T) {
	s := newStage(t)
	run := s.ralphRun(60) // more than a call takes
	id := must[int64](t)(s.client().PutCheckRun(t.Context(), run, true))
	if again := must[int64](t)(s.client().PutCheckRun(t.Context(), run, true)); again != id {
		t.Errorf("another check run was made: %d, not %d", again, id)
	}
	all := s.CheckRuns(owner, name, s.sha)
	if len(all) != 1 || len(all[0].Annotations) != 60 || all[0].Annotations[59].StartLine != 60 ||
		all[0].Conclusion != "failure" || all[0].Status != "completed" {
		t.Errorf("%d check runs, the first with %d annotations", len(all), len(all[0].Annotations))
	}
	run.ExternalID = "issue-1/3"
	if other := must[int64](t)(s.client().PutCheckRun(t.Context(), run, true)); other == id {
		t.Error("the check run of another end was taken for this one")
	}
}

// TestWhatDoesNotFit: GitHub refuses what is too long, so it is cut.
func TestWhatDoesNotFit(t *testing.T) {
	s := newStage(t)
	run := s.ralphRun(0)
	run.Summary, run.Text, run.Title = strings.Repeat("ä", 70000), strings.Repeat("x", 70000), strings.Repeat("t", 300)
	run.Annotations = []Annotation{
		{Path: "a.go", Line: 0, EndLine: -1, Level: "odd", Title: strings.Repeat("ü", 300),
			Message: strings.Repeat("m", 100000)},
		{Path: "a.go", Line: 7, EndLine: 9, Level: "warning", Message: "w"},
		{Path: "", Line: 1, Message: "of no file"},
		{Path: "b.go", Line: 1},
	}
	must[int64](t)(s.client().PutCheckRun(t.Context(), run, false))
	got := s.CheckRuns(owner, name, s.sha)[0]
	if len(got.Summary) > mostOutput || !strings.HasSuffix(got.Summary, "ä…") || len(got.Text) != mostOutput {
		t.Errorf("summary %d bytes, text %d", len(got.Summary), len(got.Text))
	}
	if len(got.Annotations) != 2 || got.Annotations[0].StartLine != 1 || got.Annotations[1].EndLine != 9 ||
		got.Annotations[1].Level != "warning" {
		t.Errorf("annotations: %d", len(got.Annotations))
	}
}

// TestPersonalTokensSetAStatus: only Apps may write check runs.
func TestPersonalTokensSetAStatus(t *testing.T) {
	states := map[string]string{
		"success": "success", "neutral": "success", "skipped": "success", "failure": "failure",
		"cancelled": "error", "timed_out": "error",
	}
	s := newStage(t)
	c := s.client(as(aliceToken))
	for conclusion := range states {
		run := s.ralphRun(3)
		run.Conclusion, run.Title, run.Name = conclusion, strings.Repeat("long\n", 60), "ralph "+conclusion
		if id, err := c.PutCheckRun(t.Context(), run, false); id != 0 || err != nil {
			t.Errorf("%s: %d, %v", conclusion, id, err)
		}
	}
	set := s.Statuses(owner, name, s.sha)
	if len(set) != len(states) {
		t.Fatalf("statuses: %+v", set)
	}
	for _, st := range set {
		if want := states[strings.TrimPrefix(st.Context, "ralph ")]; st.State != want || len(st.Description) > 140 ||
			strings.Contains(st.Description, "\n") {
			t.Errorf("status: %+v, want %s", st, want)
		}
	}
	if n := s.count("POST", "check-runs"); n != 1 {
		t.Errorf("%d tries to write a check run, want one", n)
	}
	if len(s.log) != 1 || !strings.Contains(s.log[0],
		"only Apps may write check runs, so a commit status says it instead") {
		t.Errorf("said: %q", s.log)
	}
}

// TestChecksThatMayNotBeWritten: the run goes on, and is told once what to add.
func TestChecksThatMayNotBeWritten(t *testing.T) {
	s := newStage(t)
	s.AddLimitedToken(fake.Token{Value: "ghs_less", Kind: fake.Actions, Permissions: fake.Permissions{"contents": "write"}})
	s.AddLimitedToken(fake.Token{Value: "github_pat_less", Login: "alice", Kind: fake.PAT,
		Permissions: fake.Permissions{"contents": "write"}})
	for token, want := range map[string]string{
		"ghs_less":        "add `checks: write` to the workflow's permissions",
		"github_pat_less": "the commit does not show what ralph says of it",
	} {
		s.log = nil
		c := s.client(as(token))
		for range 3 {
			if id, err := c.PutCheckRun(t.Context(), s.ralphRun(1), false); id != 0 || err != nil {
				t.Errorf("%s: %d, %v", token, id, err)
			}
		}
		if n := strings.Count(strings.Join(s.log, "\n"), want); n != 1 {
			t.Errorf("%s: said %d times: %q", token, n, s.log)
		}
	}
}
