package app

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestLabelledIssueBecomesPullRequest is the main job: a labelled issue in, a reviewed pull request out.
func TestLabelledIssueBecomesPullRequest(t *testing.T) {
	w := newWorld(t)
	w.inputs["agent"] = w.script("agent", fixer)
	result := w.must(loop.Done)(w.label("alice"))

	if n := len(result.State.Iterations); n != 3 {
		t.Errorf("%d iterations, want 3: one that failed, one that was sent back, one that was approved", n)
	}
	pulls := w.gh.Pulls(owner, name)
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests, want 1", len(pulls))
	}
	pr := pulls[0]
	if pr.Draft || pr.Head != "ralph/issue-1" || pr.Base != "main" || !strings.Contains(pr.Body, "Closes #1") {
		t.Errorf("pull request = %+v", pr)
	}
	if got := w.gh.BranchSHA(owner, name, "ralph/issue-1"); got != result.State.Tip {
		t.Errorf("the branch is at %s, the run at %s", got, result.State.Tip)
	}
	if sticky := w.bodies(pr.Number); len(sticky) != 1 || !strings.Contains(sticky[0], "Done after 3 iterations") {
		t.Errorf("comments on the pull request: %q", sticky)
	}
	if line := w.bodies(w.issue); len(line) != 1 || strings.Count(strings.TrimSpace(line[0]), "\n") > 2 || !strings.Contains(line[0], "#2") {
		t.Errorf("comments on the issue: %q", line)
	}
	if got := w.labels(); got != "" {
		t.Errorf("labels = %s, want none", got)
	}
}
