package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// dispatchable is a workflow that a server can start.
const dispatchable = "on:\n  workflow_dispatch:\n    inputs:\n      request: { type: string }\n"

// served runs the process of a server's job, which has the repository's workflow do the work.
func (w *world) served(event string, payload []byte) (loop.Result, Elsewhere) {
	w.t.Helper()
	a, err := newAction(w.environ(event, payload), &w.out)
	if err != nil {
		w.t.Fatal(err)
	}
	a.Server = &Server{Job: "a-job", Page: "https://ralph.example/runs/a-job", Payload: payload,
		Elsewhere: Elsewhere{Workflow: "ralph.yml"}}
	result, _ := a.Run(context.Background())
	return result, a.Server.Elsewhere
}

// TestDispatches: a server that has decided starts the repository's workflow, and works on nothing itself; who may not
// ask starts nothing, and who looks after the workflow is told what is wrong with it.
func TestDispatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	comment := func(who, body string) []byte {
		return w.gh.CommentPayload(owner, name, w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: who, Body: body}))
	}
	for _, wrong := range []struct{ workflow, want string }{
		{"", "The workflow ralph.yml is not there"},
		{"on: push\n", "The workflow ralph.yml cannot be started"},
		{"on: [workflow_dispatch]\n", "Unexpected inputs provided"},
	} {
		if wrong.workflow != "" {
			w.commit(".github/workflows/ralph.yml", wrong.workflow)
		}
		result, at := w.served("issue_comment", comment("alice", "/ralph run"))
		said := w.bodies(w.issue)
		if result.Outcome != loop.Invalid || at.Dispatched != "" || !strings.Contains(said[len(said)-1], wrong.want) {
			t.Errorf("%q: %q, told %s; want %s", wrong.workflow, result.Outcome, said[len(said)-1], wrong.want)
		}
	}
	w.commit(".github/workflows/ralph.yml", dispatchable)
	if result, at := w.served("issue_comment", comment("mallory", "/ralph run")); result.Outcome != loop.Refused ||
		at.Dispatched != "" {
		t.Errorf("somebody without write access: %+v, %+v", result, at)
	}
	w.gh.Label(owner, name, w.issue, "ralph", "alice")
	if result, at := w.served("issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")); result.Outcome != "" ||
		at.Dispatched != "ralph.yml" {
		t.Errorf("the label: %+v, %+v", result, at)
	}
	if result, _ := w.served("schedule", w.gh.SchedulePayload(owner, name)); result.Outcome != "" {
		t.Errorf("a sweep: %+v", result)
	}
	got := w.gh.Dispatches(owner, name)
	if want := fmt.Sprintf("label:%d:ralph", w.issue); len(got) != 1 || got[0].Inputs["request"] != want ||
		got[0].Ref != "main" {
		t.Errorf("dispatched %+v, want %s alone", got, want)
	}
	if branches := w.branches(); len(branches) != 1 {
		t.Errorf("the server has worked: %v", branches)
	}
}

// dispatched runs the workflow that somebody has dispatched with a request.
func (w *world) dispatched(by, request string) (loop.Result, error) {
	w.t.Helper()
	w.inputs["request"] = request
	w.env["GITHUB_TRIGGERING_ACTOR"] = by
	return w.action(context.Background(), "workflow_dispatch",
		w.gh.DispatchPayload(owner, name, by, map[string]string{"request": request}))
}

// TestDispatchedIsAskedAgain: a dispatch says only what somebody asked with. Whether it counts, GitHub says: who wrote
// it and what they may, whether it was edited, how old it is, and whether it has been followed.
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
		{"one that is gone", "ralph[bot]", "comment:999999", 0, loop.Refused, "not there any more"},
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
	if result, err := w.dispatched("ralph[bot]", old); result.Outcome != loop.Refused ||
		!strings.Contains(result.Reason, "has begun or gone on since") {
		t.Errorf("the same once more: %+v, %v", result, err)
	}
}
