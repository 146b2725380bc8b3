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
	a := w.ready(w.labeled())
	happened := false
	a.stored = func(r loop.Record) {
		if r.Type == loop.Judged && !happened {
			happened = true
			happens()
		}
	}
	return a.Run(context.Background())
}

// TestWhatHappensMeanwhile: work that cannot be merged is not done, and the reports say why. The job gets no event when a
// maintainer renames and closes the pull request: it keeps the title and sees the rest at the end.
func TestWhatHappensMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tt := range some(2, []struct {
		name    string
		happens func(w *world)
		outcome loop.Outcome
		want    string
		labels  string
	}{
		{"a commit on the same lines", func(w *world) { w.commit("add.sh", "theirs\n") }, loop.Stuck, "conflicts with main at ", "ralph:failed"},
		{"a commit elsewhere", func(w *world) { w.commit("other.sh", "theirs\n") }, loop.Done, "green on main at ", "ralph:review"},
		{"closed", func(w *world) {
			pull := w.gh.Pulls(owner, name)[0]
			w.gh.EditIssue(owner, name, pull.Number, "Mine", pull.Body)
			w.gh.CloseIssue(owner, name, pull.Number)
		}, loop.Done, "is closed: reopen it", ""},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"] = w.script("agent", fixer)
			result, err := w.meanwhile(func() { tt.happens(w) })
			if err != nil || result.Outcome != tt.outcome || w.labels() != tt.labels {
				t.Fatalf("outcome %s (%s), %v, labels %s", result.Outcome, result.Reason, err, w.labels())
			}
			pull := w.gh.Pulls(owner, name)[0]
			if text := pull.Body + strings.Join(w.bodies(pull.Number), ""); !strings.Contains(strings.ToLower(text), tt.want) {
				t.Errorf("the pull request:\n%s", text)
			}
			if kept := pull.Title == "Mine"; kept != (tt.name == "closed") {
				t.Errorf("its title is %s", pull.Title)
			}
		})
	}
}
