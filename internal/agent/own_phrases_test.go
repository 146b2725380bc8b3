package agent_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestOwnPhrases: what only one agent says of a failure, in the shapes that no recording has.
func TestOwnPhrases(t *testing.T) {
	t.Parallel()
	odd := func(words string) string {
		return `{"type":"result","status":"error","error":{"message":"` + words + `"}}`
	}
	failure := func(name string) string {
		return `{"type":"error","timestamp":1,"sessionID":"s","error":{"name":"` + name + `","data":{"message":"odd"}}}`
	}
	step := func(reason string) string {
		return `{"type":"text","timestamp":1,"sessionID":"s","part":{"messageID":"m","text":"hm"}}` + "\n" +
			`{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"reason":"` + reason + `"}}`
	}
	const asks = "No API key found. Starting login flow...\n"
	for _, c := range []struct {
		agent, out string
		exit       int
		want       loop.Class
	}{
		{"amp", asks, 0, loop.Auth},
		{"amp", "The first line:\n" + asks, 0, loop.OK}, // it only speaks of it
		{"gemini", "", 41, loop.Auth},
		{"gemini", "", 42, loop.Rejected}, // not a human that it waits for
		{"gemini", "", 52, loop.Rejected},
		{"gemini", "", 53, loop.MaxTurns},
		{"gemini", odd("odd"), 145, loop.Auth},
		{"gemini", odd("odd"), 144, loop.Rejected},
		{"gemini", odd("odd"), 173, loop.UsageLimit},
		{"gemini", odd("odd"), 247, loop.Overloaded},
		{"gemini", odd("odd"), 1, loop.Broke},
		{"gemini", odd("This API method requires billing to be enabled."), 147, loop.Billing},
		{"gemini", odd(`You exceeded your current quota.\nSuggested retry after 60s.`), 173, loop.UsageLimit},
		{"opencode", failure("ProviderAuthError"), 1, loop.Auth},
		{"opencode", failure("ContextOverflowError"), 1, loop.TooLong},
		{"opencode", failure("MessageOutputLengthError"), 1, loop.MaxTurns},
		{"opencode", failure("ProviderModelNotFoundError"), 1, loop.Rejected},
		{"opencode", failure("UnknownError"), 1, loop.Broke},
		{"opencode", step("stop"), 0, loop.OK},
		{"opencode", step("length"), 0, loop.MaxTurns},
		{"opencode", step("content-filter"), 0, loop.Declined},
		{"opencode", step("tool-calls"), 0, loop.CutShort}, // a permission was refused, or it was stopped
	} {
		o := agent.Options{Command: c.agent, Answer: agent.Answer{Text: c.agent == "amp"}}
		turn, err := agent.Replay(o, agent.Recording{Stdout: strings.NewReader(c.out), Exit: c.exit})
		if err != nil || turn.Class != c.want {
			t.Errorf("%s, %s, exit code %d: %s, %s, %v", c.agent, c.out, c.exit, turn.Class, turn.Reason, err)
		}
	}
}
