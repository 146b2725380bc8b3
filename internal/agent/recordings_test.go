package agent_test

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
)

// outcome is what a turn must come to.
type outcome struct {
	exit          int // of the process; below 0 the signal that ended it
	class         loop.Class
	text          string // how the last words begin; "" there are none
	usage         loop.Usage
	tools, failed int
	resets        string
}

const (
	done  = "<response>DONE</response>"
	wrote = "I wrote the file.\n" + done
)

// recorded is what the real CLIs' recordings come to. Only a text with a tag claims.
var recorded = map[string]map[string]outcome{
	"codex":    codexRecorded,
	"gemini":   geminiRecorded,
	"opencode": opencodeRecorded,
	"claude": {
		"append-system-file": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"append-system": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"bad-flag":  {exit: 1, class: loop.Rejected},
		"bad-model": {exit: 1, class: loop.Rejected},
		"bash-fails": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1, failed: 1},
		"bash": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"big-argv-120k": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"big-stdin-12m": {exit: 1, class: loop.TooLong},
		"continue": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"cut": {exit: 1, class: loop.Network, usage: loop.Usage{CostUSD: 0.00116, Input: 200, Output: 2}},
		"disallowed": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"e400":                   {exit: 1, class: loop.Rejected},
		"e400long":               {exit: 1, class: loop.TooLong},
		"e401-retries1":          {exit: 1, class: loop.Auth},
		"e401":                   {exit: 1, class: loop.Auth},
		"e403":                   {exit: 1, class: loop.Auth},
		"e429":                   {exit: 1, class: loop.UsageLimit},
		"e429sub-oauth-watchdog": {exit: 1, class: loop.UsageLimit, resets: "2026-11-21T05:00:00Z"},
		"e429sub-oauth":          {exit: 1, class: loop.UsageLimit, resets: "2026-11-21T04:00:00Z"},
		"e429sub":                {exit: 1, class: loop.UsageLimit},
		"e500":                   {exit: 1, class: loop.OutOfOrder},
		"e529-default":           {exit: 1, class: loop.Overloaded},
		"e529-fallback":          {exit: 1, class: loop.Overloaded},
		"e529-retry-watchdog":    {exit: -9, class: loop.Killed},
		"e529":                   {exit: 1, class: loop.Overloaded},
		"empty-answer":           {exit: 0, class: loop.Empty, usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}},
		"empty-prompt":           {exit: 1, class: loop.Rejected},
		"hang-watchdog":          {exit: -9, class: loop.Killed},
		"hang":                   {exit: -9, class: loop.Killed},
		"hooks-always-block": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0072000000000000015, Input: 900, Output: 180}},
		"hooks-isolated": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0024000000000000002, Input: 300, Output: 60}, tools: 1},
		"hooks-project": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0024000000000000002, Input: 300, Output: 60}, tools: 1},
		"hooks-safe-mode": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"hooks-settings-file": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0024000000000000002, Input: 300, Output: 60}, tools: 1},
		"hooks-settings-json": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0024000000000000002, Input: 300, Output: 60}, tools: 1},
		"json": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}},
		"limits-apikey": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"limits-oauth": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0008, Input: 200, Output: 40}, tools: 1},
		"limits-warning-oauth": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0008, Input: 200, Output: 40}, tools: 1},
		"max-budget": {exit: 1, class: loop.Spent, text: "once more",
			usage: loop.Usage{CostUSD: 1, Input: 150000, Output: 20000}, tools: 1},
		"max-turns": {exit: 1, class: loop.MaxTurns, text: "once more",
			usage: loop.Usage{CostUSD: 0.0024000000000000002, Input: 300, Output: 60}, tools: 3},
		"midstream-error": {exit: 1, class: loop.Overloaded, usage: loop.Usage{CostUSD: 0, Input: 100, Output: 1}},
		"no-auth":         {exit: 1, class: loop.Auth},
		"no-verbose":      {exit: 1, class: loop.Rejected},
		"nogit": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"partial-hang": {exit: -9, class: loop.Killed},
		"partial": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"perm-accept-edits": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"perm-allowed": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"perm-bypass-root": {exit: 1, class: loop.Rejected},
		"perm-dontask": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1, failed: 1},
		"refused-conn": {exit: 1, class: loop.Network},
		"resume-append-3": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"resume-fork": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"resume-missing": {exit: 1, class: loop.Rejected},
		"resume": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}},
		"root-refused":      {exit: 1, class: loop.Rejected},
		"session-id-again":  {exit: 1, class: loop.Rejected},
		"settings-bad-json": {exit: 1, class: loop.Rejected},
		"settings-bad-schema": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"settings-missing-file": {exit: 1, class: loop.Rejected},
		"sigint-stream": {exit: 0, class: loop.Killed, text: "word word word word word word word word ",
			usage: loop.Usage{CostUSD: 0.00074, Input: 100, Output: 17}},
		"sigint-twice": {exit: 0, class: loop.Killed, text: "sleeping",
			usage: loop.Usage{CostUSD: 0.0008, Input: 100, Output: 20}, tools: 1, failed: 1},
		"sigkill-tool": {exit: -9, class: loop.Killed, text: "sleeping",
			usage: loop.Usage{CostUSD: 0, Input: 100, Output: 1}, tools: 1},
		"sigterm-tool": {exit: 143, class: loop.Killed, text: "sleeping",
			usage: loop.Usage{CostUSD: 0, Input: 100, Output: 1}, tools: 1, failed: 1},
		"silent-timeout": {exit: 1, class: loop.Network},
		"silent":         {exit: -9, class: loop.Killed},
		"stdin-open": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"stdin-prompt": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"stream-input-interrupt": {exit: 1, class: loop.Killed, text: "item-0 item-7919 item-5831 item-3743 ite",
			usage: loop.Usage{CostUSD: 0.00106, Input: 100, Output: 33}},
		"stream-input-two": {exit: 0, class: loop.OK, text: done,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}},
		"stream-input": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"success": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"tools-subset": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 1},
		"two-tools": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0.0016, Input: 200, Output: 40}, tools: 2},
	},
	"amp": {
		"bad-mode":               {exit: 1, class: loop.Broke},
		"big-argv-120k":          {exit: 1, class: loop.Auth},
		"default-url-no-network": {exit: 1, class: loop.Network},
		"documented-error":       {exit: 1, class: loop.Rejected},
		"documented-success": {exit: 0, class: loop.OK, text: wrote,
			usage: loop.Usage{CostUSD: 0, Input: 200, Output: 40}, tools: 1},
		"e401":            {exit: 1, class: loop.Auth},
		"e402-credits":    {exit: 1, class: loop.Billing},
		"e403":            {exit: 1, class: loop.Auth},
		"e429":            {exit: 1, class: loop.UsageLimit},
		"e500":            {exit: 1, class: loop.OutOfOrder},
		"e503":            {exit: 1, class: loop.Overloaded},
		"no-key":          {exit: -9, class: loop.Auth},
		"no-prompt":       {exit: 1, class: loop.Rejected},
		"no-thread-actor": {exit: 1, class: loop.Broke},
		"refused-conn":    {exit: 1, class: loop.Network},
		"stdin-prompt":    {exit: 1, class: loop.Auth},
	},
}

// notStarted are recordings of processes that could not even be started: the prompt was too long for an argument.
var notStarted = map[string]bool{"claude/big-argv-1m5": true}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, cases := range recorded {
		files := 0
		for file := range recordings(t, name) {
			id, ok := strings.CutSuffix(path.Base(file), ".jsonl")
			if !ok {
				continue
			}
			files++
			want, known := cases[id]
			if !known && !notStarted[name+"/"+id] {
				t.Errorf("%s/%s: nothing says what it comes to", name, id)
			}
			if !known {
				continue
			}
			t.Run(name+"/"+id, func(t *testing.T) {
				t.Parallel()
				want.check(t, played(t, name, id, want.exit))
			})
		}
		if files < len(cases) {
			t.Errorf("%s: %d recordings for %d rows", name, files, len(cases))
		}
	}
}

// recordings are what the real CLI of that name printed: "claude/success.jsonl" on standard output, "claude/success.stderr"
// on standard error.
func recordings(t testing.TB, name string) map[string]string {
	t.Helper()
	return archive.Files(t, "../../testdata/agents/"+name+".txtar")
}

// recording is a recorded turn, such as "claude/success".
func recording(t testing.TB, name string, exit int) agent.Recording {
	t.Helper()
	files := recordings(t, path.Dir(name))
	stdout, known := files[name+".jsonl"]
	if !known {
		t.Fatalf("there is no recording %s", name)
	}
	return agent.Recording{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(files[name+".stderr"]), Exit: exit}
}

// recordedFile is what a recording has on standard output, as a file's path for a fake to print.
func recordedFile(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), path.Base(name))
	text, err := io.ReadAll(recording(t, name, 0).Stdout)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// played is the turn of a recording, some time before its limits are reset.
func played(t *testing.T, name, id string, exit int) loop.Turn {
	t.Helper()
	r := recording(t, name+"/"+id, exit)
	r.Prompt = "Create hello.txt in this repository."
	o := agent.Options{Command: name, Completion: "DONE",
		Clock: func() time.Time { return time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC) }}
	turn, err := agent.Replay(o, r)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func (want outcome) check(t *testing.T, turn loop.Turn) {
	t.Helper()
	if turn.Class != want.class || (turn.Reason == "") != (want.class == loop.OK) || strings.Contains(turn.Reason, "\n") {
		t.Errorf("class %s, want %s: %s", turn.Class, want.class, turn.Reason)
	}
	if !strings.HasPrefix(turn.Text, want.text) || (turn.Text == "") != (want.text == "") ||
		turn.Claim.Done != strings.Contains(want.text, done) {
		t.Errorf("text %q, claim %+v, want %q", turn.Text, turn.Claim, want.text)
	}
	if turn.Usage != want.usage {
		t.Errorf("usage %+v, want %+v", turn.Usage, want.usage)
	}
	if turn.Tools != want.tools || turn.ToolErrors != want.failed {
		t.Errorf("%d tools, %d of them failed; want %d and %d", turn.Tools, turn.ToolErrors, want.tools, want.failed)
	}
	resets := ""
	if !turn.ResetAt.IsZero() {
		resets = turn.ResetAt.Format(time.RFC3339)
	}
	if resets != want.resets {
		t.Errorf("resets %q, want %q", resets, want.resets)
	}
}

// A reason says what to do, by the names that the agent's users know.
func TestReasons(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"claude/e401": "check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN (it said: " +
			"Invalid API key",
		"claude/no-auth":       "(it said: Not logged in",
		"claude/bad-model":     "(HTTP 404): check the settings agent.flags and agent.model",
		"claude/bad-flag":      "(it said: error: unknown option '--no-such-flag')",
		"codex/bad-flag":       "(it said: error: unexpected argument '--no-such-flag' found)",
		"gemini/bad-flag":      "(it said: Unknown arguments: such-flag, suchFlag)",
		"opencode/bad-flag":    "agent.model, and opencode's version",
		"opencode/e429":        "rate limit is reached (HTTP 429): try again in 1s (it said",
		"claude/e429":          "rate limit is reached (HTTP 429): try again later",
		"claude/e429sub-oauth": "until 2026-11-21T04:00:00Z: try again after that",
		"claude/e529":          "overloaded (HTTP 529): try again later",
		"claude/refused-conn":  "ECONNREFUSED",
		"claude/max-turns":     "raise it in agent.flags",
		"claude/max-budget":    "raise it in agent.flags",
		"claude/big-stdin-12m": "shorten the task",
		"amp/e401":             "check AMP_API_KEY (it said: Error: getUserInfo error: invalid_api_key)",
		"amp/no-key":           "check AMP_API_KEY (it said: No API key found. Starting login flow)",
		"amp/refused-conn":     "(it said: Error: Couldn't connect to the Amp server",
		"amp/e402-credits":     "add some, or give another key; check AMP_API_KEY",
	} {
		name, id, _ := strings.Cut(file, "/")
		turn := played(t, name, id, recorded[name][id].exit)
		if !strings.Contains(turn.Reason, want) {
			t.Errorf("%s: %q, want %q", file, turn.Reason, want)
		}
	}
}
