package check

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSCM has a row for each reason that source control gives for a refusal, with what to do about it, and whose it is
// to do.
func TestSCM(t *testing.T) {
	said := func(text string) loop.Turn { return loop.Turn{Class: loop.OK, Text: text} }
	for _, tt := range []struct {
		name      string
		task      string
		messages  []loop.Turn
		output    string
		reason    string
		unfixable bool
		waits     bool
	}{
		{name: "a key that is not there", task: "commit",
			output: "error: gpg failed to sign the data\nfatal: failed to write commit object\n",
			reason: "it failed: error: gpg failed to sign the data; fix that, or take the task out of scm, then run it " +
				"again with --resume", unfixable: true},
		{name: "no rights", task: "push", output: "fatal: Authentication failed for 'https://x/'\n",
			reason: "it failed: fatal: Authentication failed for 'https://x/'; fix that", unfixable: true},
		{name: "a secret in the change is the agent's to take out", task: "commit",
			output: "error: the change holds a credential of the environment that ralph runs in; take it out",
			reason: "it failed: error: the change holds a credential of the environment that ralph runs in; take it out"},
		{name: "a conflict is the agent's to solve", task: "commit",
			output: "error: Committing is not possible because you have unmerged files.\n",
			reason: "it failed: error: Committing is not possible because you have unmerged files."},
		{name: "no message, ever", task: "commit", messages: []loop.Turn{{Class: loop.Empty}, said(" \n"), said("")},
			reason: "the agent gave no commit message; see whether it answers such a question", unfixable: true},
		{name: "a message at the second try", task: "commit", messages: []loop.Turn{{Class: loop.Empty}, said("Do it")},
			output: "error: x\n", reason: "it failed: error: x; fix that", unfixable: true},
		{name: "no message because of a limit", task: "commit",
			messages: []loop.Turn{{Class: loop.UsageLimit, Reason: "limit"}}, reason: "the agent gave no commit message: limit",
			waits: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			c := &SCM{
				Tasks: []string{tt.task},
				Ask: func(context.Context) (loop.Turn, error) {
					turn := said("Do it")
					if asked < len(tt.messages) {
						turn = tt.messages[asked]
					}
					asked++
					turn.Usage = loop.Usage{Input: 3}
					return turn, nil
				},
				Changed: func(context.Context) (bool, error) { return true, nil },
				Do:      func(context.Context, string, string) (string, bool, error) { return tt.output, false, nil },
			}
			v, err := c.Run(t.Context(), Input{})
			if err != nil || v.Pass || v.Unfixable != tt.unfixable || v.Waits != tt.waits ||
				!strings.Contains(v.Reason, tt.reason) {
				t.Errorf("verdict = %+v, %v, want %q", v, err, tt.reason)
			}
			if strings.HasPrefix(tt.reason, "it failed") && !tt.unfixable && !strings.HasSuffix(v.Reason, tt.reason) {
				t.Errorf("the agent's own mistake gets advice: %q", v.Reason)
			}
			if tt.task == "commit" && v.Usage.Input != int64(3*max(asked, 1)) || tt.task == "push" && asked > 0 {
				t.Errorf("it was asked %d times for %+v", asked, v.Usage)
			}
		})
	}
}
