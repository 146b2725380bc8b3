//go:build e2e

package agent_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/loop"
)

// ralphProgram is ralph, compiled. TestMain removes its directory, programDir.
var ralphProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(filepath.Join("..", "..", ".tools"), "e2e-")
	if err != nil {
		return "", err
	}
	programDir = dir
	program, err := filepath.Abs(filepath.Join(dir, "ralph"))
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/ralph").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

var programDir string

func ralphHooks(t *testing.T, agent string) []byte {
	t.Helper()
	program := must(ralphProgram())
	settings := must(hook.Settings(agent, program, true))
	return settings
}

const plannedStory = `{"project":"p","branchName":"ralph/x","description":"d","userStories":[{"id":"US-001","title":"T","description":"d",` +
	`"acceptanceCriteria":["c"],"priority":1,"passes":false,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"","dependsOn":[]}]}`

// TestRealAgentsHeedTheHooksOfARun gives each agent ralph's own hooks, in a repository with hooks of its own and a plan
// that is run. What a hook says must be in a later request to the model: a command refused, how full the context is,
// why it may not stop yet. Then it goes on.
func TestRealAgentsHeedTheHooksOfARun(t *testing.T) {
	hooked := slices.DeleteFunc(slices.Clone(reals), func(r real) bool { return !slices.Contains(hook.Agents, r.name) })
	eachReal(t, hooked, func(t *testing.T, r real) {
		b := ready(t, r, agent.Options{Rights: agent.Rights{Hooks: ralphHooks(t, r.name)}, Host: agent.Host{Extra: []string{hook.WindowVariable + "=100"}}},
			model.Turn{Tools: []model.Tool{model.Write("hello.txt", "hello\n")}},
			model.Turn{Tools: []model.Tool{model.Bash("touch ran.txt; chmod -R 777 /no-such-directory-of-ralph")}},
			model.Turn{Text: "I stop."},
			model.Turn{Tools: []model.Tool{model.Write("ralph/tasks.json", plannedStory)}},
			model.Turn{Text: "<response>DONE</response>"})
		put(t, b.dir, ".git/info/exclude", "*\n") // nothing is left to commit: not every agent may
		put(t, b.dir, ".ralph-active", `{"skipReview":true,"iterationMode":"implement"}`)
		put(t, b.dir, "ralph/tasks.json", "{")
		for path, text := range hostile {
			put(t, b.dir, path, fmt.Sprintf(text, b.dir))
		}
		turn := b.take(t.Context(), t, "Write hello.txt.")
		if turn.Class != loop.OK || !turn.Claim.Done {
			t.Errorf("turn = %+v", turn)
		}
		if got, err := os.ReadFile(filepath.Join(b.dir, "hello.txt")); b.exists("ran.txt") || string(got) != "hello\n" {
			t.Errorf("a command ran that a hook refuses: %v; hello.txt = %q, %v", b.exists("ran.txt"), got, err)
		}
		if got, err := os.ReadFile(filepath.Join(b.dir, "ralph", "tasks.json")); string(got) != plannedStory {
			t.Errorf("it did not go on when it was told to: tasks.json = %q, %v", got, err)
		}
		for _, words := range []string{"Refused (", "of the context window is used", "The task list is malformed"} {
			if !slices.ContainsFunc(b.model.Requests()[1:],
				func(q model.Request) bool { return strings.Contains(q.Body, words) }) {
				t.Errorf("the model is not told %q", words)
			}
		}
		if ran, _ := filepath.Glob(filepath.Join(b.dir, "hooked-*")); len(ran) > 0 {
			t.Errorf("the repository's own settings ran %q", ran)
		}
	})
}
