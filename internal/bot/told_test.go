package bot

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// meanwhile runs the job of a label, during which something happens once, after its first iteration was judged.
func (w *world) meanwhile(happens func()) (loop.Result, error) {
	w.t.Helper()
	w.gh.Label(owner, name, w.issue, "ralph", "alice")
	a, err := newAction(w.environ("issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")), &w.out)
	if err != nil {
		w.t.Fatal(err)
	}
	happened := false
	a.stored = func(r loop.Record) {
		if r.Type == loop.Judged && !happened {
			happened = true
			happens()
		}
	}
	return a.Run(context.Background())
}

// TestBaseThatHasMoved: work that cannot be merged is not done, and the reports say why.
func TestBaseThatHasMoved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, want string
		outcome          loop.Outcome
	}{
		{"in the same lines", "add.sh", "conflicts with main at ", loop.Stuck},
		{"elsewhere", "other.sh", "green on main at ", loop.Done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"] = w.script("agent", fixer)
			result, err := w.meanwhile(func() { w.commit(tt.file, "theirs\n") })
			if err != nil || result.Outcome != tt.outcome {
				t.Fatalf("outcome %s (%s), %v", result.Outcome, result.Reason, err)
			}
			if text := w.gh.Pulls(owner, name)[0].Body; !strings.Contains(strings.ToLower(text), tt.want) {
				t.Errorf("the pull request:\n%s", text)
			}
		})
	}
}

// TestClosedPullRequestIsNotReady: the job gets no event when a maintainer renames and closes the pull request. It keeps
// the title and sees the rest at the end.
func TestClosedPullRequestIsNotReady(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.script("agent", fixer)
	result, err := w.meanwhile(func() {
		pull := w.gh.Pulls(owner, name)[0]
		w.gh.EditIssue(owner, name, pull.Number, "Mine", pull.Body)
		w.gh.CloseIssue(owner, name, pull.Number)
	})
	if err != nil || result.Outcome != loop.Done {
		t.Fatalf("outcome %s (%s), %v", result.Outcome, result.Reason, err)
	}
	pull := w.gh.Pulls(owner, name)[0]
	if body := w.bodies(pull.Number)[0]; !strings.Contains(body, "is closed: reopen it") {
		t.Errorf("the comment:\n%s", body)
	}
	if w.labels() != "" || pull.Title != "Mine" {
		t.Errorf("labels = %s, title %s", w.labels(), pull.Title)
	}
}
