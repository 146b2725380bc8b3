package bot

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// sly is fixer, and tries on every turn to reach what is none of its business: the job's secrets, the harness's files,
// the next turn.
const sly = `if grep -qs INPUT_GITHUB_TOKEN /proc/[0-9]*/environ; then echo REACHED the environment of another; fi
if cat ../repo.git/HEAD 2>/dev/null; then echo REACHED the repository of the harness; fi
if [ -n "$BWRAP" ] && echo >> .git/config; then echo REACHED the configuration of git; fi 2>/dev/null
git log -1 --format='%h is readable'
`

// TestJobInASandbox: the whole of a job, with its coder, its checks and its reviewer in boxes, whichever works here.
func TestJobInASandbox(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp") // Landlock lets all of /dev be read, so a directory in memory, too
	for _, mode := range some(1, "landlock", "bwrap") {
		t.Run(mode, func(t *testing.T) {
			if mode == "bwrap" {
				need.Program(t, mode)
			}
			w := newWorld(t)
			w.env["RALPH_SANDBOX"] = ""
			w.inputs["sandbox"] = mode
			w.inputs["agent"] = w.script("agent",
				strings.Replace(fixer, "p=$(cat)", "p=$(cat)\n"+map[string]string{"bwrap": "BWRAP=1\n"}[mode]+sly, 1))
			result := w.must(loop.Done)(w.label("alice"))
			if log := w.out.String(); strings.Contains(log, "REACHED") || !strings.Contains(log, "is readable") {
				t.Error("the agent has reached what is none of its business, or not what is")
			}
			if n := len(result.State.Iterations); n != 3 {
				t.Errorf("%d iterations, want 3", n)
			}
			if log := w.out.String(); strings.Count(log, "sandbox: "+mode) != 1 {
				t.Errorf("the log says not once what holds:\n%s", log)
			}
			left, err := os.ReadDir(w.dir + "/work")
			if err != nil || len(left) > 0 {
				t.Errorf("%v is left of the job: %v", left, err)
			}
		})
	}
}
