package loop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
)

// standings are "ID status count", with a star when it passes: "A needs_review 1", "B approved 1*".
func standings(p *plan.Plan) string {
	var out []string
	for _, s := range p.Stories {
		word := fmt.Sprintf("%s %s %d", s.ID, s.ReviewStatus, s.ReviewCount)
		if s.ReviewStatus == plan.Unreviewed {
			word = fmt.Sprintf("%s new %d", s.ID, s.ReviewCount)
		}
		if s.Passes {
			word += "*"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

func stories(ids ...string) plan.Plan {
	p := plan.Plan{Project: "p", BranchName: "ralph/p"}
	for i, id := range ids {
		p.Stories = append(p.Stories, plan.Story{ID: id, Title: id, Priority: float64(i + 1),
			AcceptanceCriteria: []string{"it works"}})
	}
	return p
}

// planWorld is a run of a plan whose agent does what the script says: a word an iteration. "in" hands the story in,
// "ok" approves, "no" asks for changes, "idle" does nothing, "in!" and "ok!" are followed by a check that fails, "busy"
// is a turn that does not count and hands in.
type planWorld struct {
	script  []string
	n       int
	told    []string // mode and story of each turn
	seen    []string // the standings after each iteration's verdicts
	written plan.Plan
	log     strings.Builder
}

func (w *planWorld) word() string {
	return strings.TrimSuffix(w.script[min(w.n, len(w.script)-1)], "!")
}

func (w *planWorld) Turn(context.Context, string) (Turn, error) {
	if w.word() == "busy" {
		return Turn{Class: Overloaded, Reason: "the model is overloaded"}, nil
	}
	return Turn{Class: OK, Text: "worked"}, nil
}

func (w *planWorld) Commit(_ context.Context, _ string, s State) (Commit, error) {
	it := s.Last()
	c := Commit{SHA: fmt.Sprintf("c%d", w.n), Tree: fmt.Sprintf("t%d", w.n), Plan: &Advance{}}
	story := *s.Plan.Story(it.Story)
	switch w.word() {
	case "in", "busy":
		story.ReviewStatus, story.ReviewFeedback = plan.NeedsReview, ""
		if s.Rules().SkipReview {
			story.ReviewStatus, story.Passes, story.Notes = plan.Unreviewed, true, "done"
		}
	case "ok", "no":
		story = *s.Plan.Reviewed(story.ID, plan.Opinion{Approve: w.word() == "ok", Feedback: "more"},
			s.Rules()).Story(story.ID)
	case "broken":
		c.Plan.Violations = []plan.Violation{{Check: "2.5", Text: "no"}}
		return c, nil
	case "idle":
		return c, nil
	}
	c.Plan.Stories, c.Plan.Handed = []plan.Story{story}, true
	w.written = s.Plan.With(story)
	return c, nil
}

func (w *planWorld) Judge(_ context.Context, s State) ([]Verdict, error) {
	it := s.Last()
	a := it.Commit.Plan
	verdicts := []Verdict{
		{Check: PlanCheck, Severity: Hard, Pass: len(a.Violations) == 0, Hash: "p", Tree: it.Commit.Tree},
		{Check: ClaimCheck, Severity: Hard, Pass: a.Handed, Hash: "c", Tree: it.Commit.Tree},
		{Check: "make test", Severity: Hard, Pass: !strings.HasSuffix(w.script[min(w.n, len(w.script)-1)], "!"),
			Reason: "it exited with code 1", Hash: fmt.Sprint("h", w.n), Tree: it.Commit.Tree},
	}
	w.n++
	return verdicts, nil
}

func (w *planWorld) Correct(_ context.Context, s State) (Commit, error) {
	w.written = *s.Plan
	return Commit{SHA: s.Tip + "+", Tree: s.HeadTree() + "+"}, nil
}

func (w *planWorld) For(s State, step Step) (string, error) {
	w.seen = append(w.seen, standings(s.Plan))
	w.told = append(w.told, string(step.Mode)+" "+step.Story)
	return "p", nil
}

func (w *planWorld) ports(j Journal) Ports {
	now := noon
	return Ports{Agent: w, Tree: w, Checks: w, Journal: j, Prompt: w, Plan: w,
		Log:   func(format string, args ...any) { fmt.Fprintf(&w.log, format+"\n", args...) },
		Grace: time.Second,
		Clock: func() time.Time { now = now.Add(time.Second); return now },
		Sleep: func(context.Context, Pause) { now = now.Add(time.Hour) }}
}

func begun(p plan.Plan, rules plan.Rules, most int) Record {
	return Record{Type: Started, At: noon,
		Start: &Start{Run: "r", Task: "plan-p", Base: "b", MaxIterations: most, Plan: &Planned{
			Dir: "ralph", File: "ralph/tasks.json", Plan: p, Tree: "t", SkipReview: rules.SkipReview,
			ReviewCap: rules.ReviewCap}}}
}

// TestPlanRuns walks whole runs: a row a story of S4-11…S4-25, S4-98 and S4-124…S4-127. seen are the standings before
// each turn and at the end.
func TestPlanRuns(t *testing.T) {
	five := plan.Rules{ReviewCap: 5}
	tests := []struct {
		name, script, told, seen string
		plan                     plan.Plan
		rules                    plan.Rules
		most                     int
		outcome                  Outcome
		reason                   string
	}{
		{name: "implement, review, fix, review again (S4-124)", plan: stories("A"), rules: five, script: "in no in ok",
			told:    "implement A, review A, review-fix A, review A",
			seen:    "A new 0; A needs_review 0; A changes_requested 1; A needs_review 1; A approved 2*",
			outcome: Done, reason: "the only story is approved, and all checks passed on iteration 4"},
		{name: "one story after another, the best priority first", plan: stories("A", "B"), rules: five,
			script: "in ok in ok",
			told:   "implement A, review A, implement B, review B", outcome: Done,
			reason: "all 2 stories are approved, and all checks passed on iteration 4"},
		{name: "work that takes more than one iteration stays where it is", plan: stories("A"), rules: five,
			script: "idle in ok",
			told:   "implement A, implement A, review A", outcome: Done},
		{name: "the cap of reviews approves, loudly (S4-125)", plan: stories("A"), rules: plan.Rules{ReviewCap: 1},
			script: "in no",
			told:   "implement A, review A", seen: "A new 0; A needs_review 0; A approved 1*", outcome: Done,
			reason: "the only story is approved, and all checks passed on iteration 2; [AUTO-APPROVED AT CAP] A"},
		{name: "without reviews an implement iteration passes a story itself (S4-126)", plan: stories("A", "B"),
			rules: plan.Rules{SkipReview: true, ReviewCap: 5}, script: "in in",
			told: "implement A, implement B", seen: "A new 0, B new 0; A new 0*, B new 0; A new 0*, B new 0*", outcome: Done,
			reason: "all 2 stories are done without a review, and all checks passed on iteration 2"},
		{name: "a story that a check refuses is not handed in", plan: stories("A"), rules: five, script: "in! in ok",
			told: "implement A, implement A, review A", seen: "A new 0; A new 0; A needs_review 0; A approved 1*",
			outcome: Done},
		{name: "a fix that a check refuses is not handed in again", plan: stories("A"), rules: five,
			script:  "in no in! in ok",
			told:    "implement A, review A, review-fix A, review-fix A, review A",
			seen:    "A new 0; A needs_review 0; A changes_requested 1; A changes_requested 1; A needs_review 1; A approved 2*",
			outcome: Done},
		{name: "an approval of a tree that fails is a request for changes", plan: stories("A"), rules: five,
			script: "in ok! in ok",
			told:   "implement A, review A, review-fix A, review A",
			seen:   "A new 0; A needs_review 0; A changes_requested 1; A needs_review 1; A approved 2*", outcome: Done},
		{name: "at the cap too; it ends stuck when that does not help", plan: stories("A"), rules: plan.Rules{ReviewCap: 1},
			script: "in ok! in ok! in ok!",
			told:   "implement A, review A, review-fix A, review A, review-fix A", outcome: Stuck,
			reason: "A has been reviewed 2 times, and its checks still fail"},
		{name: "broken rules hand nothing on", plan: stories("A"), rules: five, script: "broken in ok",
			told: "implement A, implement A, review A", seen: "A new 0; A new 0; A needs_review 0; A approved 1*",
			outcome: Done},
		{name: "a turn that does not count hands nothing on", plan: stories("A"), rules: five, script: "busy", most: 1,
			outcome: Failed},
		{name: "the cap of iterations", plan: stories("A", "B"), rules: five, script: "in ok in", most: 3,
			outcome: Capped, reason: "3 of 3 iterations are used up; 1 of 2 stories are approved"},
		{name: "rules broken again and again are a loop", plan: stories("A"), rules: five, script: "broken", most: 15,
			outcome: Stuck},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.most == 0 {
				tt.most = 15
			}
			w := &planWorld{script: strings.Fields(tt.script), written: tt.plan}
			j := &memory{records: []Record{begun(tt.plan, tt.rules, tt.most)}}
			r, err := Run(context.Background(), context.Background(), Limits{NoWait: true}, w.ports(j))
			if err != nil || r.Outcome != tt.outcome || tt.reason != "" && r.Reason != tt.reason {
				t.Fatalf("%s: %s, %v; want %s: %s", r.Outcome, r.Reason, err, tt.outcome, tt.reason)
			}
			if told := strings.Join(w.told, ", "); tt.told != "" && told != tt.told {
				t.Errorf("turns: %s\n want: %s", told, tt.told)
			}
			if seen := strings.Join(append(w.seen, standings(r.State.Plan)), "; "); tt.seen != "" && seen != tt.seen {
				t.Errorf("seen: %s\nwant: %s", seen, tt.seen)
			}
			why := `plan: A is not approved yet, because the check "make test" failed: it exited with code 1`
			if corrected := strings.Contains(tt.script, "!"); strings.Contains(w.log.String(), why) != corrected {
				t.Errorf("the log:\n%s", w.log.String())
			}
			if standings(&w.written) != standings(r.State.Plan) {
				t.Errorf("the file says %s, what counts is %s", standings(&w.written), standings(r.State.Plan))
			}
			if r.Outcome == Done && !r.State.Plan.Complete(tt.rules) || r.Outcome != Done && r.State.Plan.Complete(tt.rules) {
				t.Errorf("%s with %s", r.Outcome, standings(r.State.Plan))
			}
		})
	}
}

// TestPlanKilledAnywhere: a process that dies after any record is continued to the same end.
func TestPlanKilledAnywhere(t *testing.T) {
	script := strings.Fields("in! in no in ok in ok! in ok")
	whole := &memory{records: []Record{begun(stories("A", "B"), plan.Rules{ReviewCap: 5}, 20)}}
	w := &planWorld{script: script}
	want, err := Run(context.Background(), context.Background(), Limits{}, w.ports(whole))
	if err != nil || want.Outcome != Done {
		t.Fatalf("%+v, %v", want, err)
	}
	for at := 1; at < len(whole.records); at++ {
		j := &memory{records: append([]Record(nil), whole.records[:at]...)}
		s := j.State()
		judged := 0
		for _, it := range s.Iterations {
			if it.Judged {
				judged++
			}
		}
		w := &planWorld{script: script, n: judged}
		got, err := Run(context.Background(), context.Background(), Limits{}, w.ports(j))
		if err != nil || got.Outcome != Done || standings(got.State.Plan) != standings(want.State.Plan) ||
			len(got.State.Iterations) != len(want.State.Iterations) {
			t.Errorf("killed after record %d (%s): %s %s, %v", at, whole.records[at-1].Type, got.Outcome,
				standings(got.State.Plan), err)
		}
	}
}
