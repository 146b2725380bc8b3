package bot

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestNoPullRequestIsNotDone: where workflows may not open pull requests, which is how new repositories begin, the work
// waits for the switch. A sweep, or whoever asks, then opens the pull request; no turn is paid for again.
func TestNoPullRequestIsNotDone(t *testing.T) {
	t.Parallel()
	for how, then := range map[string]func(*world) (loop.Result, error){
		"continued":         func(w *world) (loop.Result, error) { return w.comment("alice", "/ralph continue") },
		"opened by a human": nil,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gh.SetActions(owner, name, fake.ActionsSettings{WorkflowPermissions: "write"})
			turns := w.shared("turns")
			w.inputs["agent"] = w.script("agent", "echo turn >> "+turns+"\n"+fixer)
			result := w.must(loop.Waiting)(w.label("alice"))
			if !strings.Contains(result.Reason, "Allow GitHub Actions to create and approve pull requests") {
				t.Errorf("reason: %s", result.Reason)
			}
			if w.labels() != "ralph:waiting" {
				t.Errorf("labels = %s", w.labels())
			}
			if out := w.file("output"); !strings.Contains(out, "neutral") {
				t.Errorf("outputs: %s", out)
			}
			if bodies := w.bodies(w.issue); len(bodies) != 2 || !strings.Contains(bodies[0], "Workflow permissions") ||
				strings.Contains(bodies[0], "nothing was left to change") {
				t.Errorf("comments: %q", bodies)
			}
			paid := strings.Count(w.file("turns"), "\n")
			w.late += time.Hour
			w.must("")(w.sweep())
			if n := len(w.bodies(w.issue)); n != 2 { // how it stands, and that it waits
				t.Errorf("%d comments", n)
			}
			if then == nil {
				w.gh.AddPull(owner, name, fake.Pull{Title: "by hand", Head: "ralph/issue-1", Base: "main", Author: "alice"})
				then = (*world).sweep
			} else {
				w.gh.SetActions(owner, name, fake.ActionsSettings{WorkflowPermissions: "write", CanApprovePullRequest: true})
			}
			result = w.must(loop.Done)(then(w))
			if pulls := w.gh.Pulls(owner, name); len(pulls) != 1 || pulls[0].Draft || result.State.Post.Pull != pulls[0].Number {
				t.Errorf("pull requests: %+v", pulls)
			}
			if w.labels() != "ralph:review" {
				t.Errorf("labels = %s", w.labels())
			}
			if n := strings.Count(w.file("turns"), "\n"); n != paid {
				t.Errorf("%d turns for a pull request", n-paid)
			}
		})
	}
}
