package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What users of such bots complain about, as far as no other test holds it: see docs/internals/complaints.md.

// TestReRunBySomebodyElse: whoever presses "re-run" is asked for their permission, too, though the event is somebody
// else's (B-10).
func TestReRunBySomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["GITHUB_TRIGGERING_ACTOR"], w.env["GITHUB_RUN_ATTEMPT"] = "mallory", "2"
	result := w.must(loop.Refused)(w.label("alice"))
	if !strings.Contains(result.Reason, "mallory has read permission") {
		t.Errorf("refused because %s", result.Reason)
	}
	w.leavesNothing()
}

// TestLabelsTakeWriteAccess: GitHub lets people with the role triage put labels on. That is not enough here, and it is
// the issue's event log that says who it was (B-10).
func TestLabelsTakeWriteAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh.SetPermission(owner, name, "mallory", "triage")
	result := w.must(loop.Refused)(w.label("mallory"))
	if !strings.Contains(result.Reason, "mallory has read permission") {
		t.Errorf("refused because %s", result.Reason)
	}
	if !strings.Contains(w.file("summary"), "mallory") {
		t.Errorf("the job summary does not say who: %s", w.file("summary"))
	}
	// whom the log does not name
	w.must(loop.Refused)(w.action(context.Background(), "issues",
		w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")))
	w.leavesNothing()
}

// leavesNothing holds that a world was only looked at: no branch, no comment, no git at all.
func (w *world) leavesNothing() {
	w.t.Helper()
	if len(w.branches()) != 1 || len(w.bodies(w.issue)) != 0 || len(w.gh.GitCalls()) != 0 {
		w.t.Errorf("branches %v, comments %q, git %v", w.branches(), w.bodies(w.issue), w.gh.GitCalls())
	}
}

// TestForkIsToldTheWay: a pull request of a fork is refused with what to do instead, and nothing of it is fetched
// (B-15).
func TestForkIsToldTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fork := w.gh.AddPull(owner, name,
		fake.Pull{Title: "F", Author: "mallory", Head: "x", Base: "main", HeadRepo: "mallory/demo"})
	id := w.gh.AddComment(owner, name, fork, fake.Comment{Author: "alice", Body: "/ralph run"})
	w.must(loop.Refused)(w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id)))
	if !strings.Contains(w.file("summary"),
		"open an issue here and ask ralph there, or push the branch to this repository") {
		t.Errorf("job summary: %s", w.file("summary"))
	}
	w.leavesNothing()
}

// TestNoSkipIsSilent: whatever comes to nothing, the job's log or its summary says why, and the job is green (B-12).
func TestNoSkipIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh.AddUser("helper[bot]", true)
	commented := func(who, body string) func() (loop.Result, error) {
		return func() (loop.Result, error) { return w.comment(who, body) }
	}
	for what, does := range map[string]func() (loop.Result, error){
		"another label": func() (loop.Result, error) {
			return w.action(context.Background(), "issues", w.gh.LabeledPayload(owner, name, w.issue, "bug", "alice"))
		},
		"a remark":               commented("alice", "so far so good"),
		"a stranger":             commented("mallory", "/ralph run"),
		"a bot that is not let":  commented("helper[bot]", "/ralph run"),
		"ralph itself":           commented("github-actions[bot]", "/ralph run"),
		"an edited issue":        func() (loop.Result, error) { return w.edits("It divides.") },
		"a stop without a run":   commented("alice", "/ralph stop"),
		"an approval of nothing": commented("alice", "/ralph approve"),
	} {
		w.out.Reset()
		w.write("summary", "")
		result, err := does()
		if err != nil && !invalid.Reported(err) {
			t.Errorf("%s: %v", what, err)
		}
		if result.Outcome != "" && result.Outcome != loop.Refused && result.Outcome != loop.Invalid {
			t.Errorf("%s is %s", what, result.Outcome)
		}
		if said := w.out.String(); !strings.Contains(said, "nothing to do: ") && !strings.Contains(said, "::notice::") &&
			!strings.Contains(said, "::error::") {
			t.Errorf("%s: the log does not say why: %s", what, said)
		}
		if result.Outcome == loop.Refused && w.file("summary") == "" {
			t.Errorf("%s is refused, and the job summary is empty", what)
		}
	}
}

// edits changes the issue's text and runs the job of that.
func (w *world) edits(body string) (loop.Result, error) {
	w.t.Helper()
	was := w.gh.Issue(owner, name, w.issue)
	w.gh.EditIssue(owner, name, w.issue, was.Title, body)
	return w.action(context.Background(), "issues", w.gh.IssueEditedPayload(owner, name, w.issue, was, "mallory"))
}

// TestAgentReadsWhatWasMeant: the text as it stood when it was asked for, of people with write access, as it is seen
// (B-13, B-14). The pull request is there with the first commit, as a draft that will close the issue (B-19).
func TestAgentReadsWhatWasMeant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().UTC()
	w.gh.EditIssue(owner, name, w.issue, "Make add add", "It subtracts.<!-- HIDDEN -->")
	for _, c := range []fake.Comment{
		{Author: "alice", Body: "MEANT", CreatedAt: now.Add(-time.Hour)},
		{Author: "mallory", Body: "STRANGE", CreatedAt: now.Add(-time.Hour)},
		{Author: "alice", Body: "LATER", CreatedAt: now.Add(time.Hour)},
		{Author: "alice", Body: "EDITED", CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(time.Hour)},
	} {
		w.gh.AddComment(owner, name, w.issue, c)
	}
	w.gh.Label(owner, name, w.issue, "ralph", "alice")
	payload := w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")
	w.gh.EditIssue(owner, name, w.issue, "SWAPPED", "SWAPPED")
	told := w.shared("told")
	w.inputs["agent"], w.inputs["max_iterations"] = w.script("agent",
		"tee -a "+told+` > /dev/null; date +%N > x; echo "<response>DONE</response>"`), "1"
	w.must(loop.Capped)(w.action(context.Background(), "issues", payload))
	read := w.file("told")
	for _, want := range []string{"Make add add", "It subtracts.", "MEANT"} {
		if !strings.Contains(read, want) {
			t.Errorf("the agent is not told %s", want)
		}
	}
	for _, not := range []string{"HIDDEN", "STRANGE", "LATER", "EDITED", "SWAPPED"} {
		if strings.Contains(read, not) {
			t.Errorf("the agent is told %s", not)
		}
	}
	if prs := w.gh.Pulls(owner, name); len(prs) != 1 || !prs[0].Draft || !strings.Contains(prs[0].Body, "Closes #1") {
		t.Errorf("pull requests: %+v", prs)
	}
}

// TestOnlyDoneIsSuccess: of all outcomes one makes the check green that says so, and those that are nobody's fault are
// neutral.
func TestOnlyDoneIsSuccess(t *testing.T) {
	for outcome, want := range map[loop.Outcome]string{
		loop.Done: "success", loop.Capped: "failure", loop.Stuck: "failure", loop.Timeout: "failure", loop.Budget: "failure",
		loop.Invalid: "failure",
		loop.Failed:  "failure", loop.Waiting: "neutral", loop.Refused: "neutral", loop.Interrupted: "cancelled", "": "",
	} {
		if got := conclusion(outcome); got != want {
			t.Errorf("%q concludes as %q, want %q", outcome, got, want)
		}
	}
}
