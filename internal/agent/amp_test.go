//go:build unix

package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Without a key, amp asks a human to log in, and waits for ever. Its secrets may lie in a file, so it is tried.
func TestAmpAsksToLogIn(t *testing.T) {
	t.Parallel()
	for _, text := range []bool{false, true} {
		f := newFake(t, "amp", "cat "+recordedFile(t, "amp/no-key")+"; sleep 600")
		began := time.Now()
		turn := f.turn(t, agent.Options{Answer: agent.Answer{Text: text}, Bounds: agent.Bounds{Grace: 100 * time.Millisecond}}, "Do it.")
		if turn.Class != loop.Auth || !strings.Contains(turn.Reason, "check AMP_API_KEY") || turn.Text != "" {
			t.Errorf("turn = %+v", turn)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	// it only speaks of it
	f := newFake(t, "amp", "echo 'The first line:'; echo 'No API key found. Starting login flow...'")
	if turn := f.turn(t, agent.Options{Answer: agent.Answer{Text: true}}, "Do it."); turn.Class != loop.OK {
		t.Errorf("turn = %+v", turn)
	}
}
