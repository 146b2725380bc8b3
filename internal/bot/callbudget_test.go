//go:build unix

package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// nothingTwice holds that no address is read twice in one run. What another call has changed meanwhile is not read
// again either: the answer to the change tells it. Only the issue is looked at in each iteration, whether it was closed.
func (w *world) nothingTwice() {
	w.t.Helper()
	seen := map[string]int{}
	for _, c := range w.gh.Calls() {
		if c.Method == "GET" && !strings.HasSuffix(c.Path, fmt.Sprint("/issues/", w.issue)) {
			seen[c.String()]++
		}
	}
	for call, n := range seen {
		if n > 1 {
			w.t.Errorf("%d times: %s", n, call)
		}
	}
}

// stories is a plan of n stories as ralph writes one: it names no command but those of the repository.
func stories(n int) string {
	p := plan.Plan{Project: "demo", BranchName: "ralph/lines", Description: "Lines", VerifyCommands: []string{}}
	for i := range n {
		p.Stories = append(p.Stories, plan.Story{ID: fmt.Sprintf("US-%03d", i+1), Title: fmt.Sprint("Line ", i+1),
			Description: "One more line.", AcceptanceCriteria: []string{"it is there"}, Priority: float64(i + 1)})
	}
	return string(p.Marshal())
}

// TestCallBudgetOfAPlan: also in thirty iterations, for ten stories of which five are sent back once, an iteration
// costs at most two calls; and so it does with a comment for each, and with an App on an issue of many people, here of
// fewer.
func TestCallBudgetOfAPlan(t *testing.T) {
	t.Parallel()
	for _, tt := range some(1, []struct {
		comments      string
		stories, most int
		crowd         bool
	}{{"each", 2, 10, false}, {"sticky", 3, 9, true}, {"sticky", 10, 9, false}}...) {
		t.Run(fmt.Sprintf("%s of %d", tt.comments, tt.stories), func(t *testing.T) {
			t.Parallel()
			w := newJourney(t, false)
			clock, judged := w.shared("clock"), w.shared("judged")
			sent := w.shared("sent")
			w.inputs["agent"] = w.script("agent", "date +%s%N >> "+clock+"\n"+strings.Replace(storyAgent, `*" review") `,
				`"US-00"[1-5]" review") if grep -q "$story" `+sent+`; then verdict approve "[]"; else echo "$story" >> `+sent+
					`; verdict request_changes '[{"file":"README","line":1,"problem":"say more"}]'; fi;;
*" review") `, 1))
			w.inputs["checks"], w.inputs["comments"], w.inputs["max_iterations"], w.inputs["review"] = "date +%s%N >> "+judged,
				tt.comments, "30", "true"
			author := "github-actions[bot]"
			if tt.crowd {
				w.crowd()
				author = "ralphy[bot]"
				w.gh.Label(owner, name, w.issue, "ralph", "alice")
			}
			w.gh.Label(owner, name, w.issue, "ralph:failed", "alice")
			w.offeredBy(author, stories(tt.stories))
			event, payload := w.commented(w.issue, "/ralph approve")
			result := w.must(loop.Done)(w.hasten(event, payload))
			t.Logf("%d iterations", len(result.State.Iterations))
			turns, last := times(t, clock), times(t, judged)
			w.withinBudget(turns, last[len(last)-1], tt.most)
			w.nothingTwice()
			told := strings.Count(strings.Join(w.bodies(result.State.Post.Pull), ""), "### Iteration ")
			if each := tt.comments == "each"; each && told != len(result.State.Iterations) || !each && told > 0 {
				t.Errorf("%d iterations have a comment of their own", told)
			}
		})
	}
}

// TestGitBudget holds that a run of one iteration starts git at most 32 times, its lease and its hints apart: each costs
// milliseconds, on a busy runner many.
func TestGitBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := w.shared("calls")
	noError(t, os.Mkdir(filepath.Join(w.dir, "counted"), 0o755))
	w.script("counted/git", `PATH=${PATH#*/counted:}
echo "$GIT_DIR $*" | head -1 >> `+log+`
exec git "$@"
`)
	w.env["PATH"] = filepath.Join(w.dir, "counted") + ":" + os.Getenv("PATH")
	w.inputs["agent"] = w.script("agent", approver(`printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo '<response>DONE</response>'`))
	w.inputs["checks"] = "make test"
	w.must(loop.Done)(w.label("alice"))
	calls := strings.Split(strings.TrimSpace(w.file("calls")), "\n")
	calls = slices.DeleteFunc(calls, func(call string) bool {
		return !strings.Contains(call, "refs/ralph/runs/") && regexp.MustCompile(`refs/ralph/(leases|hints)/`).MatchString(call)
	})
	t.Logf("%d git processes", len(calls))
	if len(calls) > 32 || len(calls) < 20 {
		t.Errorf("git was started %d times, at most 32 are expected:\n%s", len(calls), strings.Join(calls, "\n"))
	}
}
