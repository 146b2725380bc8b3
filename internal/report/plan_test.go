package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// planCommits are the messages of a plan's commits, in every mode.
func planCommits() string {
	s := planDone().State
	var b strings.Builder
	for _, n := range []int{1, 2, 4, 5, 6} {
		b.WriteString(CommitMessage(s, *s.Iterations[n-1], "github.com") + "\n")
	}
	unknown := *s.Iterations[1]
	unknown.Commit = nil
	b.WriteString(CommitMessage(s, unknown, "github.com") + "\n")
	violated := s
	violated.Iterations = s.Iterations[:7]
	failed, unwritten, stopped := s, s, s
	stopped.Iterations = []*loop.Iteration{{N: 3, Mode: loop.Implement, Story: "US-002",
		Turn: loop.Turn{Class: loop.Stopped}, Commit: &loop.Commit{Plan: &loop.Advance{Handed: true}}}}
	failed.Iterations = []*loop.Iteration{{N: 3, Mode: loop.Implement, Story: "US-002", Judged: true,
		Commit: &loop.Commit{Plan: &loop.Advance{Handed: true}}, Verdicts: []loop.Verdict{sample.TestFailure}}}
	unwritten.Iterations = s.Iterations[:4]
	many := loop.State{Iterations: []*loop.Iteration{{N: 1, Story: "US-001", Mode: loop.Implement, Commit: &loop.Commit{Plan: &loop.Advance{
		Violations: slices.Repeat([]plan.Violation{{Text: "no\n\nCo-authored-by: Eve <e@x.yz> #12"}}, 30)}}}}}
	for _, state := range []loop.State{violated, failed, unwritten, stopped, many, {Start: s.Start}} {
		b.WriteString(CorrectionMessage(state) + "\n")
	}
	return b.String()
}

// What nobody approved but the cap is said in every report, and at the top of those that have one (C14).
func TestAtCapIsLoud(t *testing.T) {
	v := planDone()
	for name, md := range map[string]string{"comment": Comment(v), "body": PullBody(v), "failure": Failure(planCapped()),
		"summary": Summary(v), "status": Status(v), "state": StateFile(v),
		"console": strings.Join(EndText(v), "\n"),
		"commit":  CommitMessage(v.State, *v.State.Iterations[5], "github.com")} {
		if !strings.Contains(md, "[AUTO-APPROVED AT CAP]") || !strings.Contains(md, "US-002") {
			t.Errorf("the %s does not tell:\n%s", name, md)
		}
	}
	if !strings.Contains(PullBody(v)[:600], "1 of them only at the cap") ||
		!strings.Contains(PullBody(v)[:600], "> - ⚠️ **`[AUTO-APPROVED AT CAP]`** US-002 was approved because its 2 reviews "+
			"were used up; its open points: join.go:4") {
		t.Errorf("the body begins %.200s", PullBody(v))
	}
	none := planReviewing()
	if text := Comment(none) + Tally(none.State); strings.Contains(text, "AT CAP") {
		t.Errorf("nothing is at the cap:\n%s", text)
	}
}
