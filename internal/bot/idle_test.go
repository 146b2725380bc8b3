package bot

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestNothingToDoCostsNothing: a job whose event is not for ralph asks GitHub nothing, a sweep that finds no work
// asks once, for waiting issues and for the settings, and both are over before anybody could have waited for them.
func TestNothingToDoCostsNothing(t *testing.T) {
	for _, row := range []struct {
		name, event string
		payload     func(w *world) []byte
		most        int
	}{
		{"a comment for others", "issue_comment", func(w *world) []byte {
			number := w.gh.AddIssue(owner, name, fake.Issue{Title: "Talk"})
			said := fake.Comment{Body: "/ralphael has an idea", Author: "alice"}
			return w.gh.CommentPayload(owner, name, w.gh.AddComment(owner, name, number, said))
		}, 0},
		{"a sweep", "schedule", func(w *world) []byte { return w.gh.SchedulePayload(owner, name) }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			payload := row.payload(w)
			w.gh.ResetCalls()
			begun := time.Now()
			if result, err := w.action(context.Background(), row.event, payload); err != nil || result.Outcome != "" {
				t.Errorf("%q %v", result.Outcome, err)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			calls := w.gh.Calls()
			for _, call := range calls {
				t.Logf("%s %s", call.Method, call.Path)
			}
			if len(calls) > row.most {
				t.Errorf("%d calls, want at most %d", len(calls), row.most)
			}
		})
	}
}
