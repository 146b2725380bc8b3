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
		"continued": func(w *world) (loop.Result, error) {
			w.gh.SetActions(owner, name, fake.ActionsSettings{WorkflowPermissions: "write", CanApprovePullRequest: true})
			return w.comment("alice", "/ralph continue")
		},
		"opened by a human": func(w *world) (loop.Result, error) {
			w.gh.AddPull(owner, name, fake.Pull{Title: "by hand", Head: "ralph/issue-1", Base: "main", Author: "alice"})
			return w.sweep()
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gh.SetActions(owner, name, fake.ActionsSettings{WorkflowPermissions: "write"})
			turns := w.shared("turns")
			w.inputs["agent"] = w.script("agent", "echo turn >> "+turns+"\n"+fixer)
			result := w.must(loop.Waiting)(w.label("alice"))
			if !strings.Contains(result.Reason, "Allow GitHub Actions to create and approve pull requests") ||
				w.labels() != "ralph:waiting" || !strings.Contains(w.file("output"), "neutral") {
				t.Errorf("reason: %s, labels %s, outputs: %s", result.Reason, w.labels(), w.file("output"))
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
			result = w.must(loop.Done)(then(w))
			if pulls := w.gh.Pulls(owner, name); len(pulls) != 1 || pulls[0].Draft || result.State.Post.Pull != pulls[0].Number ||
				w.labels() != "ralph:review" {
				t.Errorf("pull requests: %+v, labels %s", pulls, w.labels())
			}
			if n := strings.Count(w.file("turns"), "\n"); n != paid {
				t.Errorf("%d turns for a pull request", n-paid)
			}
		})
	}
}
