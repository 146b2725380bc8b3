package agent_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSilentLimits: what an agent that was stopped for its silence was waiting for, by what the real ones print.
func TestSilentLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const answered = `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"It is cold."}}` + "\n"
	for _, tt := range []struct {
		name, agent, recording string // below testdata/agents, without its ending
		then                   string // printed after it
		class                  loop.Class
		resets                 string
		silent                 bool
		reason                 string
	}{
		{"codex tells when it tries again", "codex", "waiting/codex", "", loop.UsageLimit, "2026-11-22T14:00:00Z", false,
			"codex's usage limit is reached until 2026-11-22T14:00:00Z: try again after that; it waited for that without a " +
				"word and was stopped after 10m (it said: exceeded retry limit, last status: 429 Too Many Requests, request " +
				"id: req_fake00031)"},
		{"codex without its log", "codex", "codex/e429long", "", loop.UsageLimit, "", false,
			"codex's rate limit is reached (HTTP 429): try again later; it waited for that without a word and was stopped " +
				"after 10m (it said: exceeded retry limit, last status: 429 Too Many Requests, request id: req_fake00109)"},
		{"opencode", "opencode", "waiting/opencode", "", loop.UsageLimit, "", false,
			"opencode's rate limit is reached: try again later; it waited for that without a word and was stopped after 10m " +
				"(it said: This request would exceed your account's rate limit. Please try again later)"},
		{"opencode without its log", "opencode", "opencode/e429long", "", loop.Idle, "", true,
			"the agent was stopped after 10m without output: see whether its model answers, or raise the idle limit"},
		{"a model that has answered since", "codex", "codex/e429long", answered, loop.Idle, "", false,
			"the agent was stopped after 10m without output: see whether its model answers"},
		{"a network that is not there is no limit", "codex", "codex/refused-conn", "", loop.Idle, "", true,
			"(it said: its model did not answer, status 0 waiting for network"},
		{"a model that answers nothing", "codex", "codex/silent", "", loop.Idle, "", true,
			"the agent was stopped after 10m without output"},
		{"a model that is overloaded", "claude", "claude/e529-retry-watchdog", "", loop.Idle, "", true, "status 529"},
		{"an agent that has worked", "claude", "claude/sigkill-tool", "", loop.Idle, "", false,
			"the agent was stopped after 10m without output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := recording(t, tt.recording, 0)
			r.Stdout, r.Idle = io.MultiReader(r.Stdout, strings.NewReader(tt.then)), true
			turn, err := agent.Replay(agent.Options{Command: tt.agent, Bounds: agent.Bounds{Idle: 10 * time.Minute},
				Clock: func() time.Time { return now }}, r)
			if err != nil {
				t.Fatal(err)
			}
			resets := ""
			if !turn.ResetAt.IsZero() {
				resets = turn.ResetAt.Format(time.RFC3339)
			}
			if turn.Class != tt.class || turn.SatOut != (tt.class == loop.UsageLimit) || turn.Silent != tt.silent ||
				resets != tt.resets || !strings.Contains(turn.Reason, tt.reason) {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}

// TestTooLongAWait: an agent whose provider tells it to wait for longer than it may be silent is stopped at once, and
// not before.
func TestTooLongAWait(t *testing.T) {
	t.Parallel()
	const script = `printf '{"type":"thread.started","thread_id":"t"}\n'
echo "a line of its own" >&2
echo "WARN codex_core::responses_retry: stream disconnected - retrying sampling request (1/5 in %s)... sampling_error=last status: 429 Too Many Requests" >&2
%s`
	wait := func(delay, then string) string {
		return strings.NewReplacer("(1/5 in %s)", "(1/5 in "+delay+")", "%s", then).Replace(script)
	}
	const answers = `sleep 0.3; printf '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Done."}}\n{"type":"turn.completed","usage":{}}\n'`
	for _, tt := range []struct {
		name, script string
		idle         time.Duration
		class        loop.Class
	}{
		{"hours", wait("7199.9s", "exec sleep 60"), time.Minute, loop.UsageLimit},
		{"seconds", wait("59.5s", answers), time.Minute, loop.OK},
		{"milliseconds", wait("7199.9ms", answers), time.Minute, loop.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "codex", tt.script)
			log := filepath.Join(f.dir, "log")
			turn := f.turn(t, agent.Options{Bounds: agent.Bounds{Idle: tt.idle}, LogFile: log}, "Do it.")
			if turn.Class != tt.class || turn.SatOut != (tt.class == loop.UsageLimit) ||
				turn.ResetAt.IsZero() != (tt.class == loop.OK) {
				t.Errorf("turn = %+v", turn)
			}
			if content, err := os.ReadFile(log); err != nil || !strings.Contains(string(content), "responses_retry") ||
				!strings.Contains(string(content), "a line of its own") {
				t.Errorf("its log is %q, %v", content, err)
			}
		})
	}
}
