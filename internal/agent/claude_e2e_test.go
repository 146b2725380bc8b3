//go:build e2e

package agent_test

import (
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

// TestRealClaudeAnswersInAForm: one that is only asked something is offered nothing but the form of its answer.
func TestRealClaudeAnswersInAForm(t *testing.T) {
	schema := `{"type":"object","properties":{"verified":{"type":"boolean"}},"required":["verified"]}`
	answer := model.Tool{Name: "StructuredOutput", Input: map[string]any{"verified": true}}
	for _, rights := range []agent.Rights{{ReadOnly: true}, {NoTools: true}} {
		b := ready(t, claude, agent.Options{Rights: rights, Answer: agent.Answer{Schema: schema}},
			model.Turn{Tools: []model.Tool{answer}}, model.Turn{Text: "That is my answer."})
		if turn := b.take(t.Context(), t, "Is it done?"); turn.Class != loop.OK || turn.Structured != `{"verified":true}` {
			t.Errorf("turn = %+v", turn)
		}
		for _, r := range b.model.Requests() {
			if rights.NoTools && slices.ContainsFunc(r.Tools,
				func(name string) bool { return name != "StructuredOutput" && name != "DeferredToolPlaceholder" }) {
				t.Errorf("it was offered %v", r.Tools)
			}
		}
	}
}
