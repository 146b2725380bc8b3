//go:build unix

package agent_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestOpencodeClasses(t *testing.T) {
	t.Parallel()
	failure := func(name string) string {
		return `echo '{"type":"error","timestamp":1,"sessionID":"s","error":{"name":"` + name +
			`","data":{"message":"odd"}}}'; exit 1`
	}
	step := func(reason string) string {
		return `echo '{"type":"text","timestamp":1,"sessionID":"s","part":{"messageID":"m","text":"hm"}}
{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"reason":"` + reason + `"}}'`
	}
	for _, c := range []struct {
		script string
		want   loop.Class
	}{
		{failure("ProviderAuthError"), loop.Auth},
		{failure("ContextOverflowError"), loop.TooLong},
		{failure("MessageOutputLengthError"), loop.MaxTurns},
		{failure("ProviderModelNotFoundError"), loop.Rejected},
		{failure("UnknownError"), loop.Broke},
		{step("stop"), loop.OK},
		{step("length"), loop.MaxTurns},
		{step("content-filter"), loop.Declined},
		{step("tool-calls"), loop.CutShort}, // a permission was refused, or it was stopped
	} {
		if turn := newFake(t, "opencode", c.script).turn(t, agent.Options{}, "Do it."); turn.Class != c.want {
			t.Errorf("%s: %s, %s", c.script, turn.Class, turn.Reason)
		}
	}
}
