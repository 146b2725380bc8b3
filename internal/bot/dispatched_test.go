package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
)

// dispatched runs the workflow that somebody has dispatched with a request.
func (w *world) dispatched(by, request string) (loop.Result, error) {
	w.t.Helper()
	w.inputs["request"] = request
	w.env["GITHUB_TRIGGERING_ACTOR"] = by
	return w.action(context.Background(), "workflow_dispatch",
		w.gh.DispatchPayload(owner, name, by, map[string]string{"request": request}))
}

// ended is the end of another workflow on the work, as a dispatch names it.
func (w *world) ended() string {
	w.t.Helper()
	ci, _ := w.gh.AddWorkflowRun(owner, name, fake.WorkflowRun{Name: "CI", Branch: "ralph/issue-1",
		SHA: w.gh.BranchSHA(owner, name, "ralph/issue-1"), Conclusion: "success",
		Jobs: []fake.Job{{Name: "test", Conclusion: "success"}}})
	ev, err := github.ParseEvent(github.Delivery{Name: "workflow_run", Payload: w.gh.WorkflowRunPayload(owner, name, ci)})
	noError(w.t, err)
	from, _ := event.OriginOf(ev)
	return from.String()
}

// ignores holds that a dispatch finds the run, which does not wait for other workflows.
func (w *world) ignores(request string) {
	w.t.Helper()
	if result, err := w.dispatched("ralph[bot]", request); err != nil || result.Outcome != "" ||
		!strings.Contains(w.out.String(), "does not wait for other workflows") {
		w.t.Errorf("another workflow's end: %+v, %v\n%s", result, err, w.out.String())
	}
}

// TestDispatchedIsAskedAgain: a dispatch says only what somebody asked with. Whether it counts, GitHub says: who wrote
// it and what they may, whether it was edited, how old it is, and whether it has been followed; and how another workflow
// has ended.
func TestDispatchedIsAskedAgain(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.gh.AddUser("ralph[bot]", true)
	w.inputs["agent"] = w.script("agent", approver(`printf 'add() { echo $(($1 + $2)); }\n' > add.sh; `+
		`echo "fixed. <response>DONE</response>"`))
	comment := func(who, body string) string {
		return fmt.Sprintf("comment:%d", w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: who, Body: body}))
	}
	old := comment("alice", "/ralph run")
	edited := w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: "alice", Body: "/ralph status"})
	for made := time.Now().Unix(); time.Now().Unix() == made; time.Sleep(10 * time.Millisecond) { // GitHub tells seconds
	}
	w.gh.EditComment(owner, name, edited, "/ralph run")
	for _, tt := range []struct {
		name, by, request string
		late              time.Duration
		want              loop.Outcome
		says              string
	}{
		{"a stranger's comment", "ralph[bot]", comment("mallory", "/ralph run"), 0, loop.Refused, "mallory has read"},
		{"a stranger's dispatch", "mallory", old, 0, loop.Refused, "mallory has read"},
		{"an old one", "ralph[bot]", old, 25 * time.Hour, loop.Refused, "ask again"},
		{"one that was edited", "ralph[bot]", fmt.Sprintf("comment:%d", edited), 0, "", ""},
		{"one that is gone", "ralph[bot]", "comment:999999", 0, loop.Refused, "no longer exists"},
		{"a label that nobody put on", "ralph[bot]", fmt.Sprintf("label:%d:ralph", w.issue), 0, loop.Failed, ""},
		{"something else", "ralph[bot]", "issue:1", 0, loop.Invalid, "must be comment:ID"},
	} {
		w.late = tt.late
		result, err := w.dispatched(tt.by, tt.request)
		if result.Outcome != tt.want || !strings.Contains(result.Reason+fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %q (%s), %v; want %q, %s", tt.name, result.Outcome, result.Reason, err, tt.want, tt.says)
		}
	}
	w.late = 0
	if branches := w.branches(); len(branches) != 1 {
		t.Fatalf("it was worked: %v", branches)
	}
	w.must(loop.Done)(w.dispatched("ralph[bot]", old))
	w.ignores(w.ended())
	if result, err := w.dispatched("ralph[bot]", old); result.Outcome != loop.Refused ||
		!strings.Contains(result.Reason, "has started or resumed since") {
		t.Errorf("the same once more: %+v, %v", result, err)
	}
}
