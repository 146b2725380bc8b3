package bot

import (
	"context"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestServedJobsRunAgain: a server's process that was killed after it had told the end leaves nothing to do for the
// next one, wherever that shows its page. It tells the same end.
func TestServedJobsRunAgain(t *testing.T) {
	t.Parallel()
	w := newJourney(t, true)
	event, payload := w.labeled()
	var runs []string
	attempt := func(number, host string) loop.Result {
		w.env["GITHUB_RUN_ATTEMPT"] = number
		a := w.ready(event, payload)
		a.Server = &Server{Job: "a-job", Page: host + "/runs/a-job", Payload: payload,
			Allow:  config.Allowance{Agents: []string{w.inputs["agent"]}, Sandbox: config.Off},
			Begun:  func(b StartedRun) { runs = append(runs, b.Run) },
			Record: func(int, loop.Record) {}}
		result, err := a.Run(context.Background())
		if err != nil || result.Outcome != loop.Done {
			t.Fatalf("attempt %s: outcome %q (%s), %v", number, result.Outcome, result.Reason, err)
		}
		return result
	}
	first := attempt("1", "https://ralph.example.com")
	told := w.dump()
	again := attempt("2", "https://other.example.com:8443")
	if len(runs) != 1 || again.State.Start.Run != first.State.Start.Run || again.State.Post.Pull != first.State.Post.Pull {
		t.Errorf("runs %v; the first attempt tells of %s, #%d, the second of %s, #%d", runs, first.State.Start.Run,
			first.State.Post.Pull, again.State.Start.Run, again.State.Post.Pull)
	}
	if left := differs(w.dump(), told); left != "" {
		t.Errorf("after the second attempt\n%s", left)
	}
}
