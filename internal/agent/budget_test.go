//go:build unix

package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

const (
	spoke  = `{"type":"assistant","message":{"id":"@ID","content":[BLOCK],"usage":{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":40}},"session_id":"s"}`
	using  = `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}`
	saying = `{"type":"text","text":"<response>DONE</response>"}`
	ended  = `{"type":"result","subtype":"success","is_error":false,"result":"DONE","total_cost_usd":0.5,"usage":{"input_tokens":200,"output_tokens":90,"cache_read_input_tokens":80},"session_id":"s"}`
	dear   = `{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":1.01,"errors":["Reached maximum budget ($1)"],"session_id":"s"}`
	step   = `{"type":"step_finish","sessionID":"s","part":{"id":"@ID","reason":"BLOCK","cost":0.4,"tokens":{"input":100,"output":10,"cache":{"read":40,"write":0}}}}`
	text   = `{"type":"text","sessionID":"s","part":{"id":"x","messageID":"@ID","text":"More."}}`
)

// line is one message of an agent; printed makes a script of several. forever goes on until somebody ends it.
func line(form, id, block string) string {
	return strings.NewReplacer("@ID", id, "BLOCK", block).Replace(form)
}

func printed(lines ...string) string {
	return "cat <<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF\n"
}

const forever = "while :; do sleep 0.05; done\n"

// TestBudget: a turn that goes on although it has spent more than is left is stopped, and says so; one that had said
// its word is not.
func TestBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent  string
		script string
		left   loop.Left
		flags  []string
		class  loop.Class
		ours   bool
		usage  loop.Usage
		reason string
	}{
		"within": {
			script: printed(line(spoke, "1", using), line(spoke, "2", saying), ended), left: loop.Left{Tokens: 300},
			class: loop.OK, usage: loop.Usage{CostUSD: 0.5, Input: 200, Output: 90, CacheRead: 80},
		},
		"beyond, and about to use a tool": {
			script: printed(line(spoke, "1", using), line(spoke, "2", using)) + forever, left: loop.Left{Tokens: 299},
			class: loop.Spent, ours: true, usage: loop.Usage{Input: 200, Output: 20, CacheRead: 80},
			reason: "the run had 299 tokens left and it took 300",
		},
		"beyond, and another message comes": {
			script: printed(line(spoke, "1", saying), line(spoke, "2", saying)) + forever, left: loop.Left{Tokens: 149},
			class: loop.Spent, ours: true, usage: loop.Usage{Input: 200, Output: 20, CacheRead: 80},
			reason: "the run had 149 tokens left",
		},
		"beyond with its last word, which counts": {
			script: printed(line(spoke, "1", saying), ended), left: loop.Left{Tokens: 1},
			class: loop.OK, usage: loop.Usage{CostUSD: 0.5, Input: 200, Output: 90, CacheRead: 80},
		},
		"the blocks of a message are paid once, also when those of another context come between": {
			script: printed(line(spoke, "1", using), line(spoke, "2", using), line(spoke, "1", using), line(spoke, "2", saying),
				ended), left: loop.Left{Tokens: 300},
			class: loop.OK, usage: loop.Usage{CostUSD: 0.5, Input: 200, Output: 90, CacheRead: 80},
		},
		"what it says when it is stopped has fewer tokens": {
			script: `trap 'echo "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"total_cost_usd\":0.25}"; exit 0' INT` + "\n" +
				printed(line(spoke, "1", using)) + forever, left: loop.Left{Tokens: 10},
			class: loop.Spent, ours: true, usage: loop.Usage{CostUSD: 0.25, Input: 100, Output: 10, CacheRead: 40},
			reason: "10 tokens left",
		},
		"claude stops at the dollars that were left": {
			script: printed(line(spoke, "1", using), dear) + "exit 1", left: loop.Left{CostUSD: 1},
			class: loop.Spent, ours: true, usage: loop.Usage{CostUSD: 1.01, Input: 100, Output: 10, CacheRead: 40},
			reason: "claude stopped, since the run had $1.00 left: raise maxCostUsd",
		},
		"claude stops at its user's": {
			script: printed(dear) + "exit 1", left: loop.Left{CostUSD: 5}, flags: []string{"--max-budget-usd", "1"},
			class: loop.Spent, usage: loop.Usage{CostUSD: 1.01}, reason: "raise it in agent.flags",
		},
		"opencode tells what each step costs": {
			agent: "opencode", script: printed(line(step, "1", "tool-calls"), line(text, "m", "")) + forever,
			left:  loop.Left{CostUSD: 0.3},
			class: loop.Spent, ours: true, usage: loop.Usage{CostUSD: 0.4, Input: 100, Output: 10, CacheRead: 40},
			reason: "the run had $0.30 left and it spent $0.40: raise maxCostUsd",
		},
		"opencode's last step": {
			agent: "opencode", script: printed(line(text, "m", ""), line(step, "1", "stop")), left: loop.Left{CostUSD: 0.3},
			class: loop.OK, usage: loop.Usage{CostUSD: 0.4, Input: 100, Output: 10, CacheRead: 40},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.agent == "" {
				c.agent = "claude"
			}
			f := newFake(t, c.agent, c.script)
			got := f.turn(t, agent.Options{Bounds: agent.Bounds{Left: c.left, Grace: 20 * time.Second}, Flags: c.flags}, "Do it.")
			if got.Class != c.class || got.Ours != c.ours || got.Usage != c.usage || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%+v\nwant class %s, ours %v, %+v, %q", got, c.class, c.ours, c.usage, c.reason)
			}
		})
	}
}

// TestTells: what each agent tells of its spending.
func TestTells(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][2]bool{
		"claude": {true, true}, "opencode": {true, true}, "codex": {false, true}, "gemini": {false, true},
		"amp": {false, true}, "./agent.sh": {},
	} {
		if cost, tokens := (agent.Options{Command: command}).ReportsUsage(); [2]bool{cost, tokens} != want {
			t.Errorf("%s tells cost %v and tokens %v, want %v", command, cost, tokens, want)
		}
	}
	if cost, tokens := (agent.Options{Command: "claude", Answer: agent.Answer{Text: true}}).ReportsUsage(); cost || tokens {
		t.Error("plain text tells nothing")
	}
	for model, want := range map[string]bool{"gpt-5.5": true, "": true, "unpriced": false} {
		o := agent.Options{Command: "codex", Model: model, Host: agent.Host{Gateway: &gateway{}}}
		if cost, tokens := o.ReportsUsage(); cost != want || !tokens {
			t.Errorf("codex with %q by a gateway tells cost %v, want %v, and tokens %v", model, cost, want, tokens)
		}
	}
}
