package planrun

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// planText is a plan's file with two stories; A stands as the row says.
func planText(status, count, passes, feedback string) string {
	if status != "null" {
		status = `"` + status + `"`
	}
	return `{"project":"p","branchName":"ralph/p","description":"d","verifyCommands":["make test"],"userStories":[
		{"id":"A","title":"a","description":"","acceptanceCriteria":["it works"],"priority":1,"passes":` + passes + `,"reviewStatus":` + status +
		`,"reviewCount":` + count + `,"reviewFeedback":"` + feedback + `","notes":"n","dependsOn":[]},
		{"id":"B","title":"b","description":"","acceptanceCriteria":["it works"],"priority":2,"passes":false,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"","dependsOn":[]}]}`
}

// TestEditsOfAPlan: what the harness makes of an iteration's edit together with its verdict. A row a rule.
func TestEditsOfAPlan(t *testing.T) {
	yes, no := &plan.Opinion{Approve: true}, &plan.Opinion{Feedback: "Greet by name."}
	fresh, waits, asked := planText("null", "0", "false", ""), planText("needs_review", "1", "false", ""), planText("changes_requested", "1", "false", "more")
	tests := []struct {
		name, before, after string
		mode                loop.Mode
		cap                 int
		said                *plan.Opinion
		unsaid              string
		want                string // how A stands afterwards
		handed              bool
		broken              string // a part of the first violation
	}{
		{name: "handed in", before: fresh, after: waits0(fresh), mode: loop.Implement,
			want: "waits for its review", handed: true},
		{name: "nothing yet", before: fresh, after: fresh, mode: loop.Implement, want: "not handed in"},
		{name: "approved by whoever wrote it", before: fresh, after: planText("approved", "1", "true", ""),
			mode: loop.Implement, want: "not handed in",
			broken: "Implement iterations cannot set passes=true or approve stories"},
		{name: "approved in the fix", before: asked, after: planText("approved", "2", "true", ""),
			mode: loop.ReviewFix, want: "changes were requested in review 1",
			broken: "Review-fix iterations cannot approve stories"},
		{name: "fixed", before: asked, after: planText("needs_review", "1", "false", ""), mode: loop.ReviewFix,
			want: "waits for its review", handed: true},
		{name: "a story is gone", before: fresh,
			after: strings.Replace(fresh, `"B"`, `"C"`, 1),
			mode:  loop.Implement, want: "not handed in", broken: "B"},
		{name: "the criteria are others", before: fresh, after: strings.Replace(fresh, "it works", "it exists", 1),
			mode: loop.Implement, want: "not handed in", broken: "A"},
		{name: "the checks are others", before: fresh, after: strings.Replace(fresh, "make test", "true", 1),
			mode: loop.Implement, want: "not handed in", broken: "verifyCommands"},
		{name: "no plan any more", before: fresh, after: "{", mode: loop.Implement, want: "not handed in",
			broken: "ralph/tasks.json"},
		{name: "twice the same key", before: fresh,
			after: strings.Replace(fresh, `"passes":false`, `"passes":false,"passes":true`, 1),
			mode:  loop.Implement, want: "not handed in", broken: "passes"},

		{name: "verdict and edit approve", before: waits, after: planText("approved", "2", "true", ""),
			mode: loop.Review, said: yes, want: "approved in review 2", handed: true},
		{name: "a verdict alone approves", before: waits, after: waits, mode: loop.Review, said: yes,
			want: "approved in review 2", handed: true},
		{name: "a verdict alone asks for changes", before: waits, after: waits, mode: loop.Review, said: no,
			want: "changes were requested in review 2", handed: true},
		{name: "verdict and edit ask for changes", before: waits,
			after: planText("changes_requested", "2", "false", "Greet."), mode: loop.Review, said: no,
			want: "changes were requested in review 2", handed: true},
		{name: "the edit approves what the verdict refuses", before: waits,
			after: planText("approved", "2", "true", ""), mode: loop.Review, said: no, want: "waits for its review",
			broken: "both must say the same"},
		{name: "the edit refuses what the verdict approves", before: waits,
			after: planText("changes_requested", "2", "false", "x"), mode: loop.Review, said: yes,
			want: "waits for its review", broken: "both must say the same"},
		{name: "an edit without a verdict", before: waits, after: planText("approved", "2", "true", ""),
			mode: loop.Review, unsaid: "it cannot be read", want: "waits for its review", broken: "it cannot be read"},
		{name: "a review that was cut off", before: waits, after: planText("approved", "2", "true", ""),
			mode: loop.Review, want: "waits for its review"},
		{name: "the count goes up by two", before: waits, after: planText("approved", "3", "true", ""),
			mode: loop.Review, said: yes, want: "waits for its review", broken: "A"},
		{name: "the reviewer touches another story", before: waits,
			after: strings.Replace(planText("approved", "2", "true", ""), `null,"reviewCount":0`, `"needs_review","reviewCount":0`, 1),
			mode:  loop.Review, said: yes, want: "waits for its review", broken: "B"},
		{name: "also with a verdict alone", before: waits,
			after: strings.Replace(waits, `null,"reviewCount":0`, `"needs_review","reviewCount":0`, 1),
			mode:  loop.Review, said: yes, want: "waits for its review", broken: "B"},
		{name: "the cap approves", before: waits, after: waits, cap: 2, mode: loop.Review, said: no,
			want: "approved at the cap of 2 reviews", handed: true},
		{name: "the cap approves what the edit marks so", before: waits,
			after: planText("approved", "2", "true", "[AUTO-APPROVED AT CAP] no name"), cap: 2, mode: loop.Review,
			said: no, want: "approved at the cap of 2 reviews", handed: true},
		{name: "the cap approves what the edit still refuses", before: waits,
			after: planText("changes_requested", "2", "false", "no name"), cap: 2, mode: loop.Review, said: no,
			want: "approved at the cap of 2 reviews", handed: true},
		{name: "marked so below the cap", before: waits,
			after: planText("approved", "2", "true", "[AUTO-APPROVED AT CAP] no name"), mode: loop.Review, said: no,
			want: "waits for its review", broken: "both must say the same"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, err := plan.Parse("ralph/tasks.json", []byte(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			if tt.cap == 0 {
				tt.cap = 5
			}
			e := edit{
				before: before, after: before, story: "A", mode: tt.mode, rules: plan.Rules{ReviewCap: tt.cap},
				said: tt.said, unsaid: tt.unsaid,
			}
			e.take("ralph/tasks.json", []byte(tt.after), true)
			final := e.judge()
			a := e.advance(final)
			if got := final.Standing("A"); got != tt.want || a.Handed != tt.handed {
				t.Errorf("A: %s, handed on: %v; want %s, %v", got, a.Handed, tt.want, tt.handed)
			}
			switch {
			case tt.broken == "" && len(e.broken) > 0:
				t.Errorf("broken: %v", e.broken)
			case tt.broken != "" && (len(e.broken) == 0 || !strings.Contains(e.broken[0].Text, tt.broken)):
				t.Errorf("broken: %v; want %q", e.broken, tt.broken)
			}
			if final.Story("B") == nil || final.Story("A") == nil || len(final.Stories) < 2 {
				t.Errorf("a story is lost: %v", final.Stories)
			}
			if bad := final.Invariants(e.rules); len(bad) > 0 {
				t.Errorf("the harness's own plan breaks rules: %v", bad)
			}
		})
	}
}

// waits0 is the plan with A handed in.
func waits0(plan string) string {
	return strings.Replace(plan, `"reviewStatus":null`, `"reviewStatus":"needs_review"`, 1)
}

// TestForgedActiveFile: whatever is done to .ralph-active is seen.
func TestForgedActiveFile(t *testing.T) {
	plan, err := plan.Parse("p", []byte(planText("null", "0", "false", "")))
	if err != nil {
		t.Fatal(err)
	}
	s := loop.Fold(
		[]loop.Record{
			{
				Type: loop.Started,
				Start: &loop.Start{
					Plan: &loop.Planned{Dir: "ralph", File: "ralph/tasks.json", Plan: plan, ReviewCap: 5},
				},
			},
			{Type: loop.TurnBegun, Iteration: 1, Mode: loop.Implement, Story: "A"}},
	)
	forgeries(t, s)
}
