//go:build e2e

package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestRealAgentsWriteAndClaim gives each agent a repository whose own settings run commands.
func TestRealAgentsWriteAndClaim(t *testing.T) {
	eachReal(t, reals, func(t *testing.T, r real) {
		var console bytes.Buffer
		b := ready(t, r, agent.Options{Display: agent.Display{Console: &console}}, model.Scenario("ok")...)
		for path, text := range hostile {
			put(t, b.dir, path, fmt.Sprintf(text, b.dir))
		}
		turn := b.take(t.Context(), t, "Write hello.txt.")
		if turn.Class != loop.OK || turn.Reason != "" || !turn.Claim.Done || turn.Usage.Input == 0 || turn.Usage.Output == 0 {
			t.Errorf("turn = %+v", turn)
		}
		if turn.Tools != 1 || turn.ToolErrors != 0 || turn.Session == "" {
			t.Errorf("turn = %+v", turn)
		}
		if got, err := os.ReadFile(filepath.Join(b.dir, "hello.txt")); string(got) != "hello\n" {
			t.Errorf("hello.txt = %q, %v", got, err)
		}
		if !strings.Contains(console.String(), "I will write hello.txt.") {
			t.Errorf("console = %q", console.String())
		}
		if ran, _ := filepath.Glob(filepath.Join(b.dir, "hooked-*")); len(ran) > 0 {
			t.Errorf("the repository's own settings ran %q", ran)
		}
	})
}

// troubles are the scenarios in which a turn fails, and what it is then.
var troubles = map[string]loop.Class{
	"auth": loop.Auth, "billing": loop.Billing, "too-long": loop.TooLong, "limit": loop.UsageLimit,
	"overloaded":   loop.Overloaded,
	"server-error": loop.OutOfOrder, "empty": loop.Empty, "refuse": loop.Declined, "cut": loop.Network,
}

// untold are the troubles that an agent's output does not tell apart from others.
var untold = map[string]loop.Class{
	"codex/refuse": loop.Empty, // it passes the refusal over
}

// mostAsked is how often an agent asks a model that refuses its key, side questions included.
const mostAsked = 7

// TestRealAgentsThatMeetTrouble holds what a turn says against what its model did.
func TestRealAgentsThatMeetTrouble(t *testing.T) {
	t.Parallel()
	for scenario, class := range troubles {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			rs := reals
			if !slices.Contains([]string{"auth", "empty", "refuse"}, scenario) { // which a gateway does not change
				rs = slices.Concat(reals, carriedReals)
			}
			eachReal(t, rs, func(t *testing.T, r real) {
				b := ready(t, r, agent.Options{}, model.Scenario(scenario)...)
				turn := b.take(t.Context(), t, "Say something.")
				if want := cmp.Or(untold[r.name+"/"+scenario], class); turn.Class != want || turn.Reason == "" || turn.Claim.Done {
					t.Errorf("turn = %+v, want class %s", turn, want)
				}
				// a wrong key stays wrong: an agent that keeps asking would hold the run up
				if asked := len(b.model.Requests()); class == loop.Auth && asked > mostAsked {
					t.Errorf("it asked %d times with a wrong key, at most %d may be", asked, mostAsked)
				}
			})
		})
	}
}

func TestRealAgentsAtAUsageLimit(t *testing.T) {
	eachReal(t, slices.Concat(reals, carriedReals), func(t *testing.T, r real) {
		o := agent.Options{}
		if r.name == "opencode" { // it waits for the reset itself, and does not tell when it comes
			if turn := takeIdle(t, r, o, model.Scenario("limit-reset"),
				func(_ bench, turn loop.Turn) bool { return turn.Class != loop.Idle }); turn.Class != loop.UsageLimit || !turn.SatOut {
				t.Errorf("turn = %+v", turn)
			}
			return
		}
		if r.name == "claude" { // only subscribers are told when it ends
			o.Keys = map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": testKey}
		}
		b := ready(t, r, o, model.Scenario("limit-reset")...)
		turn := b.take(t.Context(), t, "Say something.")
		if off := turn.ResetAt.Sub(b.model.ResetAt).Abs(); turn.Class != loop.UsageLimit || off > time.Minute {
			t.Errorf("turn = %+v, want a reset at %s", turn, b.model.ResetAt)
		}
	})
}

func TestRealAgentsTakeALongPrompt(t *testing.T) {
	prompt := "BEGIN-OF-PROMPT " + strings.Repeat("Do it very well. ", 2<<20/17) + "END-OF-PROMPT"
	eachReal(t, reals, func(t *testing.T, r real) {
		file := filepath.Join(t.TempDir(), "prompt.md")
		put(t, filepath.Dir(file), "prompt.md", prompt)
		b := ready(t, r, agent.Options{PromptFile: file}, model.Scenario("text")...)
		turn := b.take(t.Context(), t, prompt)
		want := prompt
		if r.name == "codex" { // it takes a million characters at most
			want = file
		}
		if turn.Class != loop.OK || !slices.ContainsFunc(b.model.Requests(),
			func(asked model.Request) bool { return strings.Contains(asked.Body, want) }) {
			t.Errorf("turn = %+v, or the model was not asked with the prompt", turn)
		}
	})
}

func TestRealAgentsWhoseModelFallsSilent(t *testing.T) {
	eachReal(t, reals, func(t *testing.T, r real) {
		if turn := takeIdle(t, r, agent.Options{Bounds: agent.Bounds{Grace: 2 * time.Second}}, model.Scenario("hang"),
			func(b bench, _ loop.Turn) bool { return len(b.model.Requests()) > 0 }); turn.Class != loop.Idle {
			t.Errorf("turn = %+v", turn)
		}
	})
}

func TestRealAgentsStoppedInACommand(t *testing.T) {
	eachReal(t, reals, func(t *testing.T, r real) {
		b := ready(t, r, agent.Options{Bounds: agent.Bounds{Grace: 2 * time.Second}}, model.Scenario("long-command")...)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for !b.exists("begun.txt") && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond)
			}
			cancel()
		}()
		turn := b.take(ctx, t, "Run it.")
		if turn.Class != loop.Stopped || !b.exists("begun.txt") || b.exists("ended.txt") {
			t.Errorf("turn = %+v", turn)
		}
	})
}

// TestRealAgentsReadingOnly asks a reviewer to write, by tool and by command.
func TestRealAgentsReadingOnly(t *testing.T) {
	eachReal(t, reals, func(t *testing.T, r real) {
		script := []model.Turn{{Tools: []model.Tool{model.Write("written.txt", "no\n")}},
			{Tools: []model.Tool{model.Bash("echo no > touched.txt")}}, {Text: "<response>APPROVED</response>"}}
		if r.name == "claude" {
			script = append([]model.Turn{{Tools: []model.Tool{{Name: "Read", Input: map[string]any{"file_path": "given.txt"}}}}}, script...)
		}
		b := ready(t, r, agent.Options{Rights: agent.Rights{ReadOnly: true}}, script...)
		put(t, b.dir, "given.txt", "WHAT-IS-TO-BE-READ\n")
		turn := b.take(t.Context(), t, "Review.")
		if turn.Class != loop.OK || !strings.Contains(turn.Text, "APPROVED") {
			t.Errorf("turn = %+v", turn)
		}
		var left []string
		entries, _ := os.ReadDir(b.dir)
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if !slices.Equal(left, []string{".git", "given.txt"}) {
			t.Errorf("the reviewer left %q", left)
		}
		requests := b.model.Requests()
		last := requests[len(requests)-1]
		if r.name == "claude" && (!strings.Contains(last.Body, "WHAT-IS-TO-BE-READ") || slices.ContainsFunc(last.Tools,
			func(name string) bool { return name == "Bash" || name == "Write" || name == "Edit" })) {
			t.Errorf("the reviewer could not read a file, or was offered %v", last.Tools)
		}
	})
}

// TestRealCodexInTheTemporaryDirectory: it warns of such a home, but works in a sandbox of ours, where each home is
// one. With its own sandbox it does not where bubblewrap is installed: its commands fail then, and nothing in its
// stream says so.
func TestRealCodexInTheTemporaryDirectory(t *testing.T) {
	t.Parallel()
	b := ready(t, reals[1], agent.Options{Host: agent.Host{Home: t.TempDir(), Box: noBox{}}}, model.Scenario("ok")...)
	turn := b.take(t.Context(), t, "Write hello.txt.")
	if turn.Class != loop.OK || !b.exists("hello.txt") {
		t.Errorf("turn = %+v", turn)
	}
}

// TestRealGeminiLeavesNoReport: of a failed request it writes down all that was said.
func TestRealGeminiLeavesNoReport(t *testing.T) {
	t.Parallel()
	b := ready(t, reals[2], agent.Options{}, model.Scenario("limit")...)
	begun := time.Now().Add(-time.Second)
	turn := b.take(t.Context(), t, "Say something.")
	log, _ := os.ReadFile(turn.LogFile)
	if turn.Class != loop.UsageLimit || !bytes.Contains(log, []byte("Full report available at")) {
		t.Errorf("turn = %+v", turn)
	}
	reports, _ := filepath.Glob(filepath.Join(os.TempDir(), "gemini-client-error-*"))
	for _, report := range reports {
		if info, err := os.Stat(report); err == nil && info.ModTime().After(begun) {
			t.Errorf("%s is left", report)
		}
	}
}

// hostile are the settings of a repository that run commands when an agent heeds them; each leaves a file hooked-NAME.
// %[1]s is the repository's directory.
var hostile = map[string]string{
	".claude/settings.json": `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %[1]s/hooked-claude"}]}]}}`,
	".mcp.json":             `{"mcpServers":{"m":{"command":"touch","args":["%[1]s/hooked-mcp"]}}}`,
	".codex/config.toml": "notify = [\"touch\", \"%[1]s/hooked-notify\"]\n[mcp_servers.m]\ncommand = \"touch\"\nargs " +
		"= [\"%[1]s/hooked-codex-mcp\"]\n",
	".codex/hooks.json": `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %[1]s/hooked-codex"}]}]}}`,
	".gemini/settings.json": `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %[1]s/hooked-gemini"}]}]},
		"mcpServers":{"m":{"command":"touch","args":["%[1]s/hooked-gemini-mcp"]}},"tools":{"discoveryCommand":"touch %[1]s/hooked-discovery"}}`,
	"opencode.json":         `{"mcp":{"m":{"type":"local","command":["touch","%[1]s/hooked-opencode-mcp"]}}}`,
	".opencode/plugin/p.js": `import { writeFileSync } from "fs"; export const P = async () => { writeFileSync("%[1]s/hooked-plugin", ""); return {} }`,
}
