//go:build unix

package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestOpencodeCommandLine(t *testing.T) {
	t.Parallel()
	const reading = `OPENCODE_PERMISSION={"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}`
	for name, c := range map[string]struct {
		options   agent.Options
		argv      string
		with, not string // of the environment
	}{
		"plain": {agent.Options{}, "run --format json --auto", "OPENCODE_DISABLE_PROJECT_CONFIG=1",
			reading},
		"flags, model": {agent.Options{Flags: []string{"--pure"}, Model: "a/b"},
			"run --pure --format json --auto -m a/b", "OPENCODE_DISABLE_AUTOUPDATE=1", reading},
		"reading only": {agent.Options{Rights: agent.Rights{ReadOnly: true}}, "run --format json", reading, ""},
		"no tools": {agent.Options{Rights: agent.Rights{NoTools: true}}, "run --format json", `OPENCODE_PERMISSION={"*":"deny"}`,
			reading},
		"the user's own rule": {agent.Options{Rights: agent.Rights{ReadOnly: true}, Host: agent.Host{Parent: []string{`OPENCODE_PERMISSION="allow"`}}},
			"run --format json", reading, `OPENCODE_PERMISSION="allow"`},
		"the repository's settings": {agent.Options{Rights: agent.Rights{AgentSettings: true}}, "run --format json --auto",
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1"},
		"a session, as text": {agent.Options{Resume: "ses_1", Answer: agent.Answer{Text: true}}, "run --auto -s ses_1",
			"OPENCODE_DISABLE_SHARE=1", reading},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "opencode", "")
			f.turn(t, c.options, "Do it.")
			if got := strings.Join(f.argv(t), " "); got != c.argv {
				t.Errorf("argv = %s", got)
			}
			if env := f.env(t); !slices.Contains(env, c.with) || c.not != "" && slices.Contains(env, c.not) {
				t.Errorf("env = %q", env)
			}
			if got := f.read(t, "stdin"); got != "Do it." {
				t.Errorf("stdin = %q", got)
			}
		})
	}
}

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
