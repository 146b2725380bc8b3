//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// three is an agent that needs three turns, and a reviewer that approves. Each turn leaves a line in a file.
func three(begun string) string {
	return works(`*) echo x >> ` + begun + `; echo "# $(grep -c '^#' add.sh)" >> add.sh
   if [ "$(grep -c '^#' add.sh)" -ge 3 ]; then printf '# 1\n# 2\n# 3\nadd() { echo $(($1 + $2)); }\n' > add.sh; fi
   echo "<response>DONE</response>";;
`)
}

// TestKilledAnywhere: an issue becomes a pull request, and the server hears all of it. Wherever a job's process is killed, the next one comes to the same end, and takes no turn again
// but the one that was cut off. In a usual test run it is killed at every ninth write.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = w.script("agent", three(w.shared("begun")))
	end := w.must(w.start(w.labeled("5f1e-c", 1)), loop.Done)
	if pulls := w.gh.Pulls(owner, name); len(pulls) != 1 || pulls[0].Number != end.Pull || pulls[0].Author != login {
		t.Errorf("pull requests: %+v; the end tells of #%d", pulls, end.Pull)
	}
	w.mu.Lock()
	if len(w.begun) != 1 || w.begun[0].Task != "issue-1" || w.records[1].Type != loop.Started ||
		len(w.records) != len(w.types) || w.output.Len() == 0 || len(w.open) != 0 {
		t.Errorf("begun: %+v, records: %v; output of %d bytes; tokens left: %v", w.begun, w.types, w.output.Len(), w.open)
	}
	w.mu.Unlock()
	usual, writes := w.turns("begun"), 0
	for _, c := range append(w.gh.Calls(), w.gh.GitCalls()...) {
		if c.Write {
			writes++
		}
	}
	if usual != 3 || writes < 10 {
		t.Fatalf("%d turns, %d writes", usual, writes)
	}
	together, step := make(chan struct{}, 2), 9
	if os.Getenv("RALPH_TEST_EVERY_FAULT") != "" {
		step = 1
	}
	for nth := 1; nth <= writes; nth += step {
		t.Run(fmt.Sprintf("write %d of %d", nth, writes), func(t *testing.T) {
			t.Parallel()
			together <- struct{}{}
			defer func() { <-together }()
			w := newWorld(t)
			w.agent = w.script("agent", three(w.shared("begun")))
			job := w.labeled("5f1e-d", 1)
			w.gh.Fail(fake.Fault{Write: true, Nth: nth, Then: sync.OnceFunc(func() { _ = syscall.Kill(w.process(), syscall.SIGKILL) })})
			_, err := w.start(job).Wait()
			w.gh.ClearFaults()
			var died *DiedError
			if err != nil && !errors.As(err, &died) {
				t.Fatal(err)
			}
			if err == nil && nth < writes-2 { // what comes last may come too late
				t.Error("the process was not killed")
			}
			if err != nil {
				if end, err := w.start(w.labeled("5f1e-d", 2)).Wait(); err != nil || end.Outcome != "" && end.Outcome != loop.Done {
					t.Errorf("the next process: %q (%s), %v", end.Outcome, end.Reason, err)
				}
			}
			pulls := w.gh.Pulls(owner, name)
			if took := w.turns("begun"); took > usual+1 || len(pulls) != 1 || pulls[0].Draft ||
				w.git("for-each-ref", "refs/ralph/leases") != "" {
				t.Errorf("%d turns, where %d are enough; pull requests %+v; leases %s", took, usual, pulls,
					w.git("for-each-ref", "refs/ralph/leases"))
			}
		})
	}
}
