package bot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// refusing makes the remote refuse pushes: a program of sh that reads lines of "old new ref".
func (w *world) refusing(program string) {
	w.t.Helper()
	hook := filepath.Join(w.gh.GitDir(owner, name), "hooks", "pre-receive")
	noError(w.t, os.MkdirAll(filepath.Dir(hook), 0o700))
	noError(w.t, os.WriteFile(hook, []byte("#!/bin/sh\n"+program), 0o700)) // a program
}

// TestRefusedPushIsTheEnd: what the remote does not take is not tried again by sweeps, which would pay for the same
// turn every hour. Whoever asks for it gets another try, within what the issue may cost.
func TestRefusedPushIsTheEnd(t *testing.T) {
	t.Parallel()
	const branchRule = `while read old new ref; do
  case "$ref" in refs/heads/ralph/*) echo "GH006: Protected branch update failed for $ref." >&2; exit 1;; esac
done
`
	const everything = `while read old new ref; do
  case "$ref$old" in refs/ralph/runs/*0000000000000000000000000000000000000000) ;; refs/heads/*|refs/ralph/runs/*) echo "GH013: Repository rule violations found" >&2; exit 1;; esac
done
`
	for _, tt := range some(1, []struct {
		name, hook string
		turns      int // that the record holds
		said       string
	}{
		{"a rule for branches", branchRule, 1, "GH006: Protected branch update failed"},
		{"the run record too", everything, 0, "GH013: Repository rule violations found"},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			turns := w.shared("turns")
			w.inputs["agent"] = w.script("agent", "echo turn >> "+turns+"\n"+fixer)
			w.refusing(tt.hook)
			result, _ := w.label("alice")
			if result.Outcome != loop.Failed || !strings.Contains(result.Reason, tt.said) || strings.Count(w.file("turns"), "\n") != 1 {
				t.Fatalf("outcome %s after %d turns: %s", result.Outcome, strings.Count(w.file("turns"), "\n"), result.Reason)
			}
			if w.labels() != "ralph:failed" {
				t.Errorf("labels = %s", w.labels())
			}
			for _, body := range w.bodies(w.issue) {
				if !strings.Contains(body, tt.said) {
					t.Errorf("the comment does not say what the remote said: %s", body)
				}
			}
			if pulls := w.gh.Pulls(owner, name); len(pulls) != 0 {
				t.Errorf("pull requests: %+v", pulls)
			}
			for range 2 {
				w.late += 2 * time.Hour
				w.must("")(w.sweep())
			}
			if n := strings.Count(w.file("turns"), "\n"); n != 1 {
				t.Fatalf("%d turns: the sweeps ran the agent again", n)
			}
			noError(t, os.RemoveAll(filepath.Join(w.gh.GitDir(owner, name), "hooks")))
			again := w.must(loop.Done)(w.comment("alice", "/ralph retry"))
			const reviews, refused = 2, 1
			if n, coder := len(again.State.Iterations), strings.Count(w.file("turns"), "\n")-reviews; n != coder-refused+tt.turns {
				t.Errorf("%d iterations of %d turns", n, coder)
			}
		})
	}
}
