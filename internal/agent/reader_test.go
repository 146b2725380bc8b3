package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// lines writes claude's lines: "text ID WORDS", "nested ID WORDS", "tool ID", "answer ID WORDS", "user WORDS"; others
// stay.
func script(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		id, words, _ := strings.Cut(rest, " ")
		message := func(kind string, parent any, id string, block map[string]any) {
			raw, _ := json.Marshal(map[string]any{"type": kind, "parent_tool_use_id": parent,
				"message": map[string]any{"id": id, "content": []any{block},
					"usage": map[string]any{"input_tokens": 10, "output_tokens": 1}}})
			b.Write(append(raw, '\n'))
		}
		switch kind {
		case "text":
			message("assistant", nil, id, map[string]any{"type": "text", "text": words})
		case "nested":
			message("assistant", "toolu_0", id, map[string]any{"type": "text", "text": words})
		case "thinks":
			message("assistant", nil, id, map[string]any{"type": "thinking", "thinking": words})
		case "tool":
			message("assistant", nil, id, map[string]any{"type": "tool_use", "id": "t" + id, "name": "Bash",
				"input": map[string]any{"command": "echo " + words}})
		case "answer":
			message("user", nil, "", map[string]any{"type": "tool_result", "tool_use_id": "t" + id, "content": words,
				"is_error": strings.Contains(words, "failed")})
		case "user":
			message("user", nil, "", map[string]any{"type": "text", "text": rest})
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

const (
	fine     = `{"type":"result","subtype":"success","is_error":false,"result":"the last words","total_cost_usd":0.5,"usage":{"input_tokens":70,"output_tokens":7}}`
	declined = `{"type":"result","subtype":"success","is_error":false,"result":"I will not.","stop_reason":"refusal"}`
	tagged   = "<response>DONE</response>"
)

// What counts as a claim (C1, C2), and what a turn has used.
func TestWhatATurnSays(t *testing.T) {
	t.Parallel()
	claims := loop.Claim{Done: true, Tag: "response", Text: "DONE"}
	counted, seen := loop.Usage{CostUSD: 0.5, Input: 70, Output: 7},
		func(n int64) loop.Usage { return loop.Usage{Input: 10 * n, Output: n} }
	for name, c := range map[string]struct {
		out           string
		exit          int
		class         loop.Class
		claim         loop.Claim
		usage         loop.Usage
		tools, failed int
		promises      []string // of the criteria
		structured    string
	}{
		"the promise of the criteria": {out: script("text a <promise> auth_implemented\n</promise>", fine), promises: []string{"AUTH_IMPLEMENTED"},
			class: loop.OK, claim: loop.Claim{Done: true, Tag: "promise", Text: "auth_implemented"}, usage: counted},
		"no promise of the criteria": {out: script("text a <promise>COMPLETE</promise>", fine), promises: []string{"AUTH_IMPLEMENTED"},
			class: loop.OK, claim: loop.Claim{Tag: "promise", Text: "COMPLETE"}, usage: counted},
		"an answer in a form needs no words": {out: `{"type":"result","subtype":"success","result":"","structured_output":{"verdict":"APPROVED"}}`,
			class: loop.OK, structured: `{"verdict":"APPROVED"}`},
		"white space only": {out: script("text a  \n ", strings.Replace(fine, "the last words", "", 1)), class: loop.Empty, usage: counted},
		"a tag in a tool's answer is no claim": {out: script("tool a", "answer a "+tagged, "text b hm", fine),
			class: loop.OK, usage: counted, tools: 1},
		"a tag in a tool's input is no claim": {out: script("tool a "+tagged, "text b hm", fine), class: loop.OK,
			usage: counted, tools: 1},
		"a tag of an echoed prompt is no claim": {out: script("user "+tagged, "text b hm", fine), class: loop.OK,
			usage: counted},
		"a tag in a thought is no claim": {out: script("thinks a "+tagged, "text b hm", fine), class: loop.OK,
			usage: counted},
		"a tag of a helper is no claim": {out: script("nested a "+tagged, "text b hm", fine), class: loop.OK,
			usage: counted},
		"a tag in a broken line is no claim": {out: script("text b hm",
			`{"type":"assistant","message":{"content":[{"type":"text","text":"`+tagged, fine), class: loop.OK, usage: counted},
		"a tag in no line of the format is no claim": {out: script("text b hm", tagged, fine), class: loop.OK,
			usage: counted},
		"a last message of tools only": {out: script("text a "+tagged, "tool b", "answer b ok", fine),
			class: loop.OK, claim: claims, usage: counted, tools: 1},
		"the last message with a tag wins": {out: script("text a "+tagged,
			"text b <response>not yet</response>", "text c hm", fine), class: loop.OK,
			claim: loop.Claim{Tag: "response", Text: "not yet"}, usage: counted},
		"the first tag of a message wins": {out: script("text a "+tagged+" <response>no</response>",
			"text a <response>no</response>", fine), class: loop.OK, claim: claims, usage: counted},
		"a tag far ahead of the end of its message": {out: script("text a "+tagged+"\n"+strings.Repeat(" more", 50_000),
			fine), class: loop.OK, claim: claims, usage: counted},
		"only a result": {out: strings.Replace(fine, "the last words", tagged, 1),
			class: loop.OK, claim: claims, usage: counted},
		"no result": {out: script("text a hm", "tool a", "text b hm"),
			class: loop.CutShort, usage: seen(2), tools: 1},
		"blocks of one message count once": {out: script("text a one", "tool a", "text a two", "nested b x"),
			class: loop.CutShort, usage: seen(2), tools: 1},
		"a tool that failed": {out: script("tool a", "answer a it failed", "tool b",
			"answer b ok", "text c hm", fine), class: loop.OK, usage: counted, tools: 2, failed: 1},
		"a refusal": {out: script("text a no", declined), class: loop.Declined,
			usage: seen(1)},
		"a failure that is called success": {out: strings.Replace(fine, "false", "true", 1), exit: 0,
			class: loop.Broke, usage: counted},
		"a good result and a bad end": {out: script("text a hm", fine), exit: 1, class: loop.Broke,
			usage: counted},
		"a good result, then a signal": {out: script("text a hm", fine), exit: -9, class: loop.OK,
			usage: counted},
		"words of limits in what it said before a crash": {out: script("text a usage limit reached"), exit: 1,
			class: loop.Broke, usage: seen(1)},
		"costs of a session that goes on": {out: script("text a hm",
			`{"type":"result","subtype":"success","result":"x","total_cost_usd":9,"usage":{"input_tokens":1},"model_usage_since_last_result":{"a":{"costUSD":0.25},"b":{"costUSD":0.5}}}`),
			class: loop.OK, usage: loop.Usage{CostUSD: 0.75, Input: 1}},
		"costs of two results": {out: script(fine, strings.Replace(fine, "0.5", "0.75", 1)), class: loop.OK,
			usage: loop.Usage{CostUSD: 0.75, Input: 140, Output: 14}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, err := agent.Replay(agent.Options{Command: "claude", Answer: agent.Answer{Completion: "DONE", Promises: c.promises}}, agent.Recording{
				Stdout: strings.NewReader(c.out), Stderr: strings.NewReader("warning: " + tagged + "\n"), Exit: c.exit,
				Prompt: "Do it and say " + tagged,
			})
			if err != nil {
				t.Fatal(err)
			}
			if turn.Class != c.class || turn.Claim != c.claim || turn.Usage != c.usage || turn.Tools != c.tools ||
				turn.ToolErrors != c.failed || turn.Structured != c.structured {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}

// All that the agent itself said in a turn, for whoever verifies its word; empty where the last message is all.
func TestAllThatATurnSays(t *testing.T) {
	t.Parallel()
	delta := func(words string) string {
		return `{"type":"message","role":"assistant","content":"` + words + `","delta":true}`
	}
	for name, c := range map[string]struct{ agent, out, said string }{
		"several messages": {"claude",
			script("text a one", "tool b", "answer b a tool", "text c two", fine), "one\ntwo"},
		"neither helpers nor thoughts, tools, echoes and noise": {"claude",
			script("text a one", "nested b a helper", "thinks c a thought", "user an echo", "noise", "text d two", fine),
			"one\ntwo"},
		"only a result": {"claude", fine, ""},
		"a long message": {"claude",
			script("text a "+strings.Repeat("x", 20_000), fine), strings.Repeat("x", 20_000)},
		"a message in pieces": {"gemini",
			script(delta("one "), delta("piece"), `{"type":"tool_use","tool_id":"t","tool_name":"x"}`, delta("two"),
				`{"type":"result","status":"success","stats":{}}`), "one piece\ntwo"},
		"more than is kept": {"claude",
			script("text a begins"+strings.Repeat("x", 600_000), "text b "+strings.Repeat("y", 600_000)+"ends", fine), "cut"},
		"where to log in": {"amp",
			"If your browser does not open automatically, visit:\n\nhttps://ampcode.com/auth\n", ""},
		"a long result, alone": {"claude",
			strings.Replace(fine, "the last words", strings.Repeat("w", 20_000), 1), strings.Repeat("w", 20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, err := agent.Replay(agent.Options{Command: c.agent},
				agent.Recording{Stdout: strings.NewReader(c.out), Stderr: strings.NewReader("")})
			switch {
			case err != nil:
				t.Fatal(err)
			case c.said == "cut":
				if len(turn.Transcript) > loop.SaidBytes+100 || len(turn.Transcript) < loop.SaidBytes ||
					!strings.Contains(turn.Transcript, "truncated ...]\n") {
					t.Errorf("of what it said %d bytes are kept", len(turn.Transcript))
				}
			case turn.Transcript != c.said:
				t.Errorf("it said %.80q, want %.80q", turn.Transcript, c.said)
			}
			if len(turn.Text) > loop.TextBytes {
				t.Errorf("the record keeps %d bytes", len(turn.Text))
			}
		})
	}
}
