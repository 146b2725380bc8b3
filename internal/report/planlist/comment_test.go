package planlist

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/report"
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

// Whatever plans hold, and however large they are, the comment with one does nothing, tells no secret, and stays within
// what GitHub takes.
func TestHostilePlanComment(t *testing.T) {
	for _, v := range []report.View{planHostile(), planLarge(200, sample.Nasty), planLarge(200, strings.Repeat("`<@🙂", 500)),
		planLarge(2000, "x")} {
		v.Redact = report.Redactor(nil)
		isInert(t, Comment(v, *v.State.Plan, 3, 10))
	}
}

func isInert(t *testing.T, comment string) {
	t.Helper()
	for _, p := range sample.Inertness(comment) {
		t.Errorf("%s\n%.2000s", p, comment)
	}
	if strings.Contains(comment, "sk-ant-") || len(comment) > report.CommentLimit {
		t.Errorf("%d bytes, or a secret:\n%.2000s", len(comment), comment)
	}
}
