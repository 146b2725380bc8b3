package bot

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// ask opens an issue with this text and labels it.
func (w *world) ask(body string) (loop.Result, error) {
	w.t.Helper()
	w.issue = w.gh.AddIssue(owner, name, fake.Issue{Title: "Make add add", Body: body, Author: "mallory"})
	return w.label("alice")
}

// TestCriteriaOfAnIssue: the list that an issue has under "Acceptance criteria" is what the coder and the reviewer are
// told, and a command that the settings have, too, may verify it.
func TestCriteriaOfAnIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := w.shared("told")
	w.inputs["checks"] = "make test"
	w.inputs["agent"] = w.script("agent",
		"tee -a "+told+" | "+w.script("worker",
			strings.ReplaceAll(fixer, "<response>DONE</response>", "<promise>ADDED</promise>")))
	result := w.must(loop.Done)(w.ask("It subtracts.\n\n## Acceptance criteria\n\n- [ ] 2 and 3 make 5\n- [ ] nothing " +
		"else changes\n\n```ralph\ncoder:\n  promise: ADDED\n  verification_method: external\n  verification_config: " +
		"{command: make test}\n```\n"))
	if of := result.State.Start.Completion; of == nil || len(of.Acceptance) != 2 || of.Coder.Method != task.External {
		t.Errorf("criteria %+v", of)
	}
	text := w.file("told")
	for _, want := range []string{"- [ ] 2 and 3 make 5", "<promise>ADDED</promise>", "- [ ] nothing else changes"} {
		if strings.Count(text, want) < 2 {
			t.Errorf("%q is not told to coder and reviewer:\n%s", want, text)
		}
	}
	verified := false
	for _, v := range result.State.Last().Verdicts {
		verified = verified || v.Check == "verify coder" && v.Pass && v.Reason == "External verification passed"
	}
	if !verified {
		t.Errorf("verdicts %+v", result.State.Last().Verdicts)
	}
}
