//go:build e2e

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/loop"
)

// installed is where the real CLI is. It is installed once, into a cache directory.
var installed = sync.OnceValues(func() (string, error) {
	install := exec.Command("sh", filepath.Join("..", "..", "testdata", "install-claude.sh"))
	var said bytes.Buffer
	install.Stderr = &said
	out, err := install.Output()
	if err != nil {
		return said.String(), err
	}
	return strings.TrimSpace(string(out)), nil
})

// realClaude readies the real CLI against a scripted model, in a fresh directory with a fresh HOME.
func realClaude(t *testing.T, o agent.Options, script ...model.Turn) (*agent.Agent, *model.Server, string) {
	t.Helper()
	bin, err := installed()
	if err != nil {
		if os.Getenv("CI_E2E_CLAUDE") == "require" {
			t.Fatalf("the real claude CLI could not be installed by testdata/install-claude.sh: %v\n%s", err, bin)
		}
		t.Skipf("left out: the real claude CLI could not be installed by testdata/install-claude.sh: %v\n%s", err, bin)
	}
	server := model.New(script...)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	o.Command, o.Dir, o.Home, o.Completion = bin, dir, t.TempDir(), "DONE"
	o.Parent = append(os.Environ(), "ANTHROPIC_BASE_URL="+server.URL)
	o.Keys = map[string]string{"ANTHROPIC_API_KEY": "sk-test-key"}
	o.Timeout = 2 * time.Minute
	o.LogFile = filepath.Join(t.TempDir(), "turn.log")
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a, server, dir
}

func takeTurn(t *testing.T, a *agent.Agent, prompt string) loop.Turn {
	t.Helper()
	turn, err := a.Turn(context.Background(), prompt)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %q in %s, %+v", turn.Class, turn.Reason, turn.Duration.Round(10*time.Millisecond), turn.Usage)
	return turn
}

func TestRealClaudeWritesAndClaims(t *testing.T) {
	var console bytes.Buffer
	a, server, dir := realClaude(t, agent.Options{Console: &console},
		model.Turn{Text: "I will write it.", Tools: []model.Tool{model.Write("hello.txt", "hello\n")}},
		model.Turn{Text: "Written.\n<response>DONE</response>"})
	hook := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch hooked"}]}],"Stop":[{"hooks":[{"type":"command","command":"touch hooked"}]}]}}`
	if err := os.MkdirAll(filepath.Join(dir, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(hook), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "CLAUDE.md"), []byte("NOTE-FOR-CLAUDE\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	turn := takeTurn(t, a, "Write hello.txt. "+strings.Repeat("Do it well. ", 20_000)) // more than an argument can hold

	if turn.Class != loop.OK || !turn.Claim.Done || turn.Session == "" || turn.Usage.Input == 0 || turn.Usage.CostUSD == 0 {
		t.Errorf("turn = %+v", turn)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "hello.txt")); string(got) != "hello\n" {
		t.Errorf("hello.txt = %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "hooked")); err == nil {
		t.Error("a hook of the repository ran")
	}
	if !strings.Contains(console.String(), "⏺ Write(") {
		t.Errorf("console = %q", console.String())
	}
	requests := server.Requests()
	if len(requests) == 0 || requests[0].Key != "sk-test-key" {
		t.Errorf("the model got %d requests without the key", len(requests))
	}
	if strings.Contains(requests[0].Body, "NOTE-FOR-CLAUDE") {
		t.Error("CLAUDE.md is read now: the prompt need not tell the agent to read it")
	}
	if unknown := server.Unknown(); len(unknown) > 0 {
		t.Errorf("the model was asked for %v", unknown)
	}
}

func TestRealClaudeWithARefusedKey(t *testing.T) {
	a, _, _ := realClaude(t, agent.Options{}, model.Turn{Status: 401})
	turn := takeTurn(t, a, "Say something.")
	if turn.Class != loop.Auth || turn.Duration > time.Minute {
		t.Errorf("turn = %+v", turn)
	}
}

func TestRealClaudeReadingOnly(t *testing.T) {
	a, server, dir := realClaude(t, agent.Options{ReadOnly: true},
		model.Turn{Tools: []model.Tool{model.Write("written.txt", "no\n"), model.Bash("touch touched.txt")}},
		model.Turn{Tools: []model.Tool{{Name: "Read", Input: map[string]any{"file_path": "given.txt"}}}},
		model.Turn{Text: "<response>APPROVED</response>"})
	if err := os.WriteFile(filepath.Join(dir, "given.txt"), []byte("WHAT-IS-TO-BE-READ\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	turn := takeTurn(t, a, "Review.")
	if turn.Class != loop.OK {
		t.Errorf("turn = %+v", turn)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("the reviewer left %v", entries)
	}
	requests := server.Requests()
	for _, r := range requests {
		if slices.Contains(r.Tools, "Bash") || slices.Contains(r.Tools, "Write") || slices.Contains(r.Tools, "Edit") {
			t.Errorf("the reviewer was offered %v", r.Tools)
		}
	}
	t.Logf("offered: %v", requests[0].Tools)
	if !strings.Contains(requests[len(requests)-1].Body, "WHAT-IS-TO-BE-READ") {
		t.Error("the reviewer could not read a file")
	}
}

func TestRealClaudeAnswersInAForm(t *testing.T) {
	schema := `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`
	answer := model.Tool{Name: "StructuredOutput", Input: map[string]any{"verdict": "APPROVED"}}
	a, _, _ := realClaude(t, agent.Options{ReadOnly: true, Schema: schema},
		model.Turn{Tools: []model.Tool{answer}}, model.Turn{Text: "That is my verdict."})
	turn := takeTurn(t, a, "Review.")
	var got struct{ Verdict string }
	if err := json.Unmarshal([]byte(turn.Structured), &got); err != nil || got.Verdict != "APPROVED" || turn.Class != loop.OK {
		t.Errorf("turn = %+v, %v", turn, err)
	}
}

func TestRealClaudeWithAWrongFlag(t *testing.T) {
	a, _, _ := realClaude(t, agent.Options{Flags: []string{"--no-such-flag"}}, model.Turn{Text: "hello"})
	if turn := takeTurn(t, a, "Say something."); turn.Class != loop.Rejected {
		t.Errorf("turn = %+v", turn)
	}
}
