//go:build e2e

package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/loop"
)

// claude is the first of the real agents.
var claude = reals[0]

// TestRealClaudeReadsNoNotes fails when the CLI begins to read CLAUDE.md by itself: then the prompt need not tell it
// to.
func TestRealClaudeReadsNoNotes(t *testing.T) {
	b := ready(t, claude, agent.Options{}, model.Scenario("text")...)
	put(t, b.dir, "CLAUDE.md", "NOTE-FOR-CLAUDE\n")
	turn := b.take(t.Context(), t, "Say something.")
	if turn.Class != loop.OK || turn.Usage.CostUSD == 0 {
		t.Errorf("turn = %+v", turn)
	}
	if strings.Contains(b.model.Requests()[0].Body, "NOTE-FOR-CLAUDE") {
		t.Error("CLAUDE.md is read now")
	}
}

func TestRealClaudeReadingOnly(t *testing.T) {
	b := ready(t, claude, agent.Options{Rights: agent.Rights{ReadOnly: true}},
		model.Turn{Tools: []model.Tool{{Name: "Read", Input: map[string]any{"file_path": "given.txt"}}}},
		model.Turn{Text: "<response>APPROVED</response>"})
	put(t, b.dir, "given.txt", "WHAT-IS-TO-BE-READ\n")
	if turn := b.take(t.Context(), t, "Review."); turn.Class != loop.OK {
		t.Errorf("turn = %+v", turn)
	}
	requests := b.model.Requests()
	for _, r := range requests {
		if slices.Contains(r.Tools, "Bash") || slices.Contains(r.Tools, "Write") || slices.Contains(r.Tools, "Edit") {
			t.Errorf("the reviewer was offered %v", r.Tools)
		}
	}
	if !strings.Contains(requests[len(requests)-1].Body, "WHAT-IS-TO-BE-READ") {
		t.Error("the reviewer could not read a file")
	}
}

func TestRealClaudeAnswersInAForm(t *testing.T) {
	schema := `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`
	answer := model.Tool{Name: "StructuredOutput", Input: map[string]any{"verdict": "APPROVED"}}
	b := ready(t, claude, agent.Options{Rights: agent.Rights{ReadOnly: true}, Answer: agent.Answer{Schema: schema}},
		model.Turn{Tools: []model.Tool{answer}}, model.Turn{Text: "That is my verdict."})
	turn := b.take(t.Context(), t, "Review.")
	var got struct{ Verdict string }
	if err := json.Unmarshal([]byte(turn.Structured), &got); err != nil || got.Verdict != "APPROVED" ||
		turn.Class != loop.OK {
		t.Errorf("turn = %+v, %v", turn, err)
	}
}

// An agent that is only asked something is offered nothing but the form of its answer.
func TestRealClaudeWithoutTools(t *testing.T) {
	schema := `{"type":"object","properties":{"verified":{"type":"boolean"}},"required":["verified"]}`
	answer := model.Tool{Name: "StructuredOutput", Input: map[string]any{"verified": true}}
	b := ready(t, claude, agent.Options{Rights: agent.Rights{NoTools: true}, Answer: agent.Answer{Schema: schema}},
		model.Turn{Tools: []model.Tool{answer}}, model.Turn{Text: "That is my answer."})
	if turn := b.take(t.Context(), t, "Is it done?"); turn.Class != loop.OK || turn.Structured != `{"verified":true}` {
		t.Errorf("turn = %+v", turn)
	}
	for _, r := range b.model.Requests() {
		if slices.ContainsFunc(r.Tools,
			func(name string) bool { return name != "StructuredOutput" && name != "DeferredToolPlaceholder" }) {
			t.Errorf("it was offered %v", r.Tools)
		}
	}
}

func TestRealClaudeWithAWrongFlag(t *testing.T) {
	b := ready(t, claude, agent.Options{Flags: []string{"--no-such-flag"}}, model.Scenario("text")...)
	if turn := b.take(t.Context(), t, "Say something."); turn.Class != loop.Rejected {
		t.Errorf("turn = %+v", turn)
	}
}
