package planlist

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func TestGoldenPlanComment(t *testing.T) {
	sample.Goldens(t, map[string]string{
		"plan-comment.md":         Comment(planRunning(), sample.Greetings(), 9, 30),
		"plan-comment-large.md":   Comment(planRunning(), *planLarge(200, "words").State.Plan, 600, 2000),
		"plan-comment-hostile.md": Comment(planHostile(), *planHostile().State.Plan, 9, 30),
		"plan-comment-too-long.md": Comment(planRunning(), *planLarge(200, strings.Repeat("words ", 40)).State.Plan, 600,
			2000),
	})
}

// planned is the plan of a view, or one made of what else it holds.
func planned(v report.View) plan.Plan {
	s := v.State
	if s.Plan != nil {
		return *s.Plan
	}
	return plan.Plan{Project: s.Start.Title, Description: s.Start.Spec, VerifyCommands: s.Start.Checks,
		Stories: []plan.Story{
			{ID: s.Start.Task, Title: s.Start.Title, Description: s.Start.Spec,
				AcceptanceCriteria: []string{s.Start.Spec}, DependsOn: []string{s.Start.Branch, s.Start.Task}},
			{ID: s.Start.Branch, Title: s.Start.Branch, DependsOn: []string{s.Start.Task}},
		}}
}

// Whatever runs and plans hold, the comment with a plan does nothing, tells no secret, and stays within what GitHub
// takes.
func TestHostilePlanComment(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	views := []report.View{hostile(), planHostile(), planLarge(200, sample.Nasty),
		planLarge(200, strings.Repeat("`<@🙂", 500)),
		planLarge(2000, "x")}
	some := func(most int) string { return sample.Some(random, most) }
	for range 300 {
		views = append(views, view(sample.Begin(func(start *loop.Start) {
			start.Title, start.Spec, start.Task, start.Branch = some(12), safetext.Sanitise(some(60)), some(12), some(6)
			start.Checks = []string{some(6), some(6)}
		})))
	}
	for _, v := range views {
		v.Redact = report.Redactor(nil)
		md := Comment(v, planned(v), 3, 10)
		for _, p := range sample.Inertness(md) {
			t.Errorf("%s\n%.2000s", p, md)
		}
		if strings.Contains(md, "sk-ant-") || len(md) > report.CommentLimit {
			t.Errorf("%d bytes, or a secret:\n%.2000s", len(md), md)
		}
		if t.Failed() {
			return
		}
	}
}
