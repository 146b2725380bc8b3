package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWhatCannotBeTriedAgain ends with a sentence that says what to do.
func TestWhatCannotBeTriedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault fake.Fault
		want  string
		bad   loop.Outcome
	}{
		{"the issue was deleted", fake.Fault{Match: "GET /repos/alice/demo/issues/1", Status: 410, Times: -1},
			"it was deleted", loop.Invalid},
		{"the issue was transferred", fake.Fault{}, "was transferred to", loop.Invalid},
		{"nothing can be said on the issue", fake.Fault{Match: "POST /repos/.../reactions", Status: 403, Times: -1},
			"permissions contents, issues and pull-requests: write", loop.Invalid},
		{"commits have to be signed", fake.Fault{}, "set the input signing_key", loop.Invalid},
		{"the push is refused for good", fake.Fault{Match: "POST /.../git-receive-pack", Status: 403, Times: -1},
			"write the repository's contents", loop.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).overHTTP()
			w.inputs["agent"] = w.script("agent", fixer)
			if tt.fault.Match != "" {
				w.gh.Fail(tt.fault)
			} else if tt.want == "was transferred to" {
				w.gh.TransferIssue(owner, name, w.issue, w.gh.AddIssue(owner, name, fake.Issue{Title: "Elsewhere"}))
			} else {
				w.gh.SetRules(owner, name, "ralph/issue-1", "required_signatures")
			}
			result, err := w.label("alice")
			text := result.Reason
			if err != nil {
				text += err.Error()
			}
			if result.Outcome != tt.bad || !strings.Contains(text, tt.want) {
				t.Errorf("outcome %s: %s; want %s with %q", result.Outcome, text, tt.bad, tt.want)
			}
			if strings.Contains(w.out.String(), "Iteration 1") {
				t.Error("a turn was taken")
			}
		})
	}
}

// TestPushThatFailsIsNotDone: when the work, or only the outcome, cannot be pushed any more, the run does not end well,
// whatever the checks say. The pushes are the lease, the run record, three commits and the outcome.
func TestPushThatFailsIsNotDone(t *testing.T) {
	t.Parallel()
	for nth, says := range map[int]string{ // every one of them meets more in TestEveryCallMeetsEveryFault
		1: "", 3: "`/ralph retry` starts over, because no work is on GitHub.", 7: "`/ralph retry` resumes from here.",
		4: "`/ralph retry` resumes from the last commit on GitHub, without the work in `work.patch`.",
	} {
		if !every() && nth < 3 {
			continue
		}
		t.Run(fmt.Sprint("push ", nth), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).overHTTP()
			w.inputs["agent"] = w.script("agent", fixer)
			w.gh.Fail(fake.Fault{Match: "POST /.../git-receive-pack", Nth: nth, Status: 403, Times: -1})
			result, err := w.label("alice")
			want := loop.Failed
			if nth == 1 { // before anything has begun, it is the token
				want = loop.Invalid
			}
			if result.Outcome != want || err == nil {
				t.Errorf("outcome %s, %v; want %s", result.Outcome, err, want)
			}
			if pulls := w.gh.Pulls(owner, name); len(pulls) == 1 && !pulls[0].Draft {
				t.Error("the pull request is ready for review")
			}
			patch := w.file(".ralph/runs/" + result.State.Start.Run + "/work.patch")
			if unpushed := nth > 2 && nth < 7; unpushed != strings.Contains(patch, "+++ b/add.sh") {
				t.Errorf("the work is kept as the patch %q", patch)
			}
			told := strings.Join(w.bodies(w.issue), "")
			for _, p := range w.gh.Pulls(owner, name) {
				told += strings.Join(w.bodies(p.Number), "")
			}
			if !strings.Contains(told, says) {
				t.Errorf("nothing says %q:\n%s", says, told)
			}
		})
	}
}

// TestRefusedPushIsAFinding: what GitHub does not take of a commit is told to the next turn in its own words, and no
// commit that is pushed has held it (B-18).
func TestRefusedPushIsAFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refusing(`while read old new ref; do
  if git ls-tree -r --name-only $new | grep -q '^.github/workflows/'; then
    echo "refusing to allow a GitHub App to create or update workflow '.github/workflows/ci.yml' without 'workflows' permission" >&2; exit 1
  fi
done
`)
	w.inputs["agent"] = w.script("agent", approver(`mkdir -p .github/workflows; echo "on: push" > .github/workflows/ci.yml
case "$p" in *"refusing to allow a GitHub App"*"Nothing of this was pushed"*) rm -r .github/workflows;; esac
printf 'add() { echo $(($1 + $2)); }\n' > add.sh
echo "<response>DONE</response>"`))
	result := w.must(loop.Done)(w.label("alice"))
	if n := len(result.State.Iterations); n != 2 || result.State.Iterations[0].Commit.Declined == "" {
		t.Errorf("%d iterations", n)
	}
	if out := w.git("log", "--name-only", "--format=%b", "main..ralph/issue-"+fmt.Sprint(w.issue)); strings.Contains(out, "ci.yml") ||
		!strings.Contains(out, "Ralph-Iteration: 2\nRalph-Iteration: 1") {
		t.Errorf("the branch has\n%s", out)
	}
}
