package bot

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestAcceptForPeople: what only a person accepts is accepted by its name alone, not by "all", and without another turn.
func TestAcceptForPeople(t *testing.T) {
	t.Parallel()
	const fixes = `printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo '<response>DONE</response>'`
	for _, tt := range []struct {
		name, agent, checks, says string
		pulls                     int
	}{
		{"nothing-to-do", approver("echo '<response>NOTHING: it is there</response>'"), "true",
			"`/ralph accept nothing-to-do` ends the run without a change", 0},
		{"review", `p=$(cat); case "$p" in *"# Review"*) echo fine;; *) ` + fixes + `;; esac`, "make test",
			"`/ralph accept review` accepts this commit without a review", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			turns := w.shared("turns")
			w.inputs["agent"], w.inputs["checks"] = w.script("agent", "echo x >> "+turns+"\n"+tt.agent), tt.checks
			w.must(loop.Waiting)(w.label("alice"))
			paid := w.file("turns")
			w.must("")(w.comment("alice", "/ralph accept all"))
			result := w.must(loop.Done)(w.comment("alice", "/ralph accept "+tt.name))
			if w.file("turns") != paid {
				t.Errorf("accepting took turns: %q, then %q", paid, w.file("turns"))
			}
			text := strings.Join(w.bodies(w.issue), "\n")
			pulls := w.gh.Pulls(owner, name)
			for _, p := range pulls {
				text += strings.Join(w.bodies(p.Number), "\n")
			}
			if len(pulls) != tt.pulls || tt.pulls > 0 && pulls[0].Draft || w.gh.Issue(owner, name, w.issue).Closed {
				t.Errorf("pull requests %+v", pulls)
			}
			if !strings.Contains(text, "by name: `"+tt.name+"`") || len(result.State.Iterations) != 1 {
				t.Errorf("%d iterations; comments:\n%s", len(result.State.Iterations), text)
			}
		})
	}
}

// TestAccept: a run that waits for somebody to accept what it has found says what and how; a stranger's word is none; a
// name that is not all leaves it waiting; and what is accepted ends it without another turn.
func TestAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("Makefile", "test:\n\tsh test.sh\n", "test.sh", ". ./add.sh\n[ $(add 2 3) = 5 ]\n", "check.sh", "grep -q + add.sh\n",
		".ralph/settings.json", `{"guardrails": [{"command": "make test"}, {"command": "sh check.sh"}], "review": false}`)
	turns := w.shared("turns")
	w.inputs["agent"] = w.script("agent", "cat > /dev/null; echo x >> "+turns+"\n"+
		"echo '# sums' >> add.sh; echo ': less' > test.sh; echo ': less' > check.sh\n"+
		"echo 'done. <response>DONE</response>'")
	w.must(loop.Waiting)(w.label("alice"))
	body := strings.Join(append(w.bodies(w.issue), w.bodies(w.gh.Pulls(owner, name)[0].Number)...), "\n")
	for _, want := range []string{"Waiting for you to accept what was found", "2 findings need to be accepted by name",
		"- `check.sh`", "- `test.sh`", "`/ralph accept all` accepts every one"} {
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
