//go:build unix

package agent_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestGeminiClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   loop.Class
	}{
		{"exit 41", loop.Auth},
		{"exit 42", loop.Rejected}, // not a human that it waits for
		{"exit 52", loop.Rejected},
		{"exit 53", loop.MaxTurns},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 145`, loop.Auth},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 144`, loop.Rejected},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 173`, loop.UsageLimit},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 247`, loop.Overloaded},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 1`, loop.Broke},
		{`echo '{"type":"result","status":"error","error":{"message":"This API method requires billing to be enabled."}}'; exit 147`, loop.Billing},
		{`echo '{"type":"result","status":"error","error":{"message":"You exceeded your current quota.\nSuggested retry after 60s."}}'; exit 173`, loop.UsageLimit},
	} {
		if turn := newFake(t, "gemini", c.script).turn(t, agent.Options{}, "Do it."); turn.Class != c.want {
			t.Errorf("%s: %s, %s", c.script, turn.Class, turn.Reason)
		}
	}
}
