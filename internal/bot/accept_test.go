package bot

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestAccept: a run that waits for somebody to accept what it has found says what and how; a stranger's word is none; a
// name that is not all leaves it waiting; and what is accepted ends it without another turn.
func TestAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("Makefile", "test:\n\tsh test.sh\n", "test.sh", ". ./add.sh\n: look\n", "check.sh", ": checks\n",
		".ralph/settings.json", `{"guardrails": [{"command": "make test"}, {"command": "sh check.sh"}], "review": false}`)
	turns := w.shared("turns")
	w.inputs["agent"] = w.script("agent", "cat > /dev/null; echo x >> "+turns+"\n"+
		"printf 'add() { echo $(($1 + $2)); }\\n' > add.sh; echo ': less' > test.sh; echo ': less' > check.sh\n"+
		"echo 'done. <response>DONE</response>'")
	w.must(loop.Waiting)(w.label("alice"))
	body := strings.Join(append(w.bodies(w.issue), w.bodies(w.gh.Pulls(owner, name)[0].Number)...), "\n")
	for _, want := range []string{"Waiting for you to accept what was found", "2 findings need to be accepted by name",
		"- `check.sh`", "- `test.sh`", "` accepts by name, `/ralph accept all` every one"} {
		if !strings.Contains(body, want) {
			t.Errorf("nothing says %q:\n%s", want, body)
		}
	}
	if r, err := w.comment("mallory", "/ralph accept all"); err != nil || r.Outcome != loop.Refused {
		t.Errorf("a stranger accepts: %q, %v", r.Outcome, err)
	}
	if r, err := w.comment("alice", "/ralph accept tests.sh"); err != nil || r.Outcome != "" ||
		!strings.Contains(strings.Join(w.bodies(w.issue), "\n"), "did you mean `/ralph accept test.sh`?") {
		t.Errorf("a name that is none: %q, %v\n%s", r.Outcome, err, w.bodies(w.issue))
	}
	w.must(loop.Waiting)(w.comment("alice", "/ralph accept test.sh"))
	result := w.must(loop.Done)(w.comment("alice", "/ralph accept `check.sh`"))
	if n := len(result.State.Iterations); n != 1 {
		t.Errorf("%d iterations, want 1", n)
	}
	for _, a := range result.State.Accepted {
		if a.By != "alice" {
			t.Errorf("%s was accepted by %q", a.Name, a.By)
		}
	}
	pull := strings.Join(append(w.bodies(w.gh.Pulls(owner, name)[0].Number), w.gh.Pulls(owner, name)[0].Body), "\n")
	if !strings.Contains(pull, "accepted by alice: `test.sh`") {
		t.Errorf("the pull request does not say who accepted what:\n%s", pull)
	}
}
