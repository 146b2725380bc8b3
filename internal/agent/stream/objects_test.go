package stream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
)

// tell writes an event in a line.
func tell(e stream.Event) string {
	nested := ""
	if e.Nested {
		nested = "nested "
	}
	switch e.Kind {
	case stream.Session:
		return fmt.Sprintf("session %d", len(e.Session))
	case stream.Text:
		return fmt.Sprintf("%stext %q", nested, e.Text)
	case stream.ToolStart:
		return fmt.Sprintf("%stool %s(%s)", nested, e.Tool.Name, e.Tool.Input)
	case stream.Retry:
		return fmt.Sprintf("retry %d/%d %d", e.Retry.Number, e.Retry.Most, e.Retry.Status)
	case stream.Limit:
		return fmt.Sprintf("limit %t %s", e.Limit.Rejected, e.Limit.Resets.Format(time.RFC3339))
	case stream.Ended:
		r := e.Result
		return fmt.Sprintf("result %t %s %d %s %q %v %s $%g", r.Failed, r.Subtype, r.Status, r.Why, r.Text, r.Errors,
			r.Structured, r.Usage.CostUSD)
	case stream.Noise:
		return fmt.Sprintf("noise %q", e.Text)
	}
	return string(e.Kind)
}

func tellAll(events []stream.Event) []string {
	var lines []string
	for _, e := range events {
		if e.Kind != stream.Progress {
			lines = append(lines, tell(e))
		}
	}
	return lines
}

// tellTools is tellAll, and what a tool that failed answered.
func tellTools(events []stream.Event) []string {
	var lines []string
	for _, e := range events {
		line := strings.Join(tellAll([]stream.Event{e}), "")
		switch {
		case line == "":
			continue
		case e.Kind == stream.ToolEnd && e.Tool.Failed:
			line += " failed " + string(rune('0'+e.Tool.Lines)) + " lines"
		case e.Kind == stream.Todo:
			for _, item := range e.Todos {
				line += " [" + item.Status + "] " + item.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

const good = `{"type":"result","subtype":"success","result":"x"}`

// TestObjects: what each format's objects tell that no recording has, in the shapes of the CLI's own, and what is broken.
func TestObjects(t *testing.T) {
	const head = `"timestamp":1795232636079,"sessionID":"ses"`
	for agent, rows := range map[string][]struct{ in, want string }{
		"claude": {
			{`{"type":"from_the_future","x":1}`, ""},
			{`{"type":"system","subtype":"permission_denied","message":"a string here"}`, ""},
			{`{"type":"result","subtype":"success","is_error":false,"result":"x","api_error_status":"odd","num_turns":3}`,
				`result false success 0  "x" []  $0`},
			{`{"type":"assistant","message":{"content":"not a list","id":"m"}}`, ""},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"<response>DONE</response>"},{"type":"text","text":"a"}]}}`, `text "a"`},
			{`{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"id":"m","content":[{"type":"text","text":"a"}]}}`,
				`nested text "a"`},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Login first"}]},"error":"authentication_failed"}`, ""},
			{`{"message":{"role":"user","content":[{"type":"tool_result","content":"<response>DONE</response>"}]},"type":"user"}`,
				"tool-end"},
			{`{"type":"user","message":{"content":"<response>DONE</response>`,
				`noise "{\"type\":\"user\",\"message\":{\"content\":\"<response>DONE</response>"`},
			{`{"type":"result","subtype":"suc`, `noise "{\"type\":\"result\",\"subtype\":\"suc"`},
			{"Warning: something", `noise "Warning: something"` + "\n" + `text "Warning: something\n"`},
			{"null", `noise "null"` + "\n" + `text "null\n"`},
			{"[1, 2", `noise "[1, 2"` + "\n" + `text "[1, 2\n"`},
			{"[INFO] x\n" + good, `noise "[INFO] x"` + "\n" + `result false success 0  "x" []  $0`},
			{"\uFEFF" + good, `result false success 0  "x" []  $0`},
			{"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"tab\there\x01\"}",
				`result false success 0  "tab here " []  $0`},
			{"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"\xff\"}",
				`result false success 0  "` + "\uFFFD" + `" []  $0`},
			{`{"type":"result","subtype":"error_max_turns","result":null,"structured_output":null}`,
				`result true error_max_turns 0  "" []  $0`},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":{"command":"go  test\n./...","description":"run"}}]}}`, "tool T(go test ./...)"},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":{"pattern":"x","path":"/p"}}]}}`, "tool T(/p)"},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":{"file_path":7,"url":"http://u"}}]}}`, "tool T(http://u)"},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":"just text"}]}}`, "tool T()"},
			{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":{"command":"` + strings.Repeat("é", 500) + `"}}]}}`,
				"tool T(" + strings.Repeat("é", 119) + "…)"},
			{`{"type":"result","structured_output":{"a":[1]}}`, `result false  0  "" [] {"a":[1]} $0`},
		},
		"codex": {
			{`{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"<response>DONE</response>"}}`, ""},
			{`{"type":"item.completed","item":{"id":"i","type":"file_change","changes":[{"path":"a.go","kind":"update"},{"path":"b.go","kind":"add"}],"status":"completed"}}`,
				"tool Edit(a.go b.go)\ntool-end"},
			{`{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"s","tool":"look","arguments":{"path":"/p"},"error":{"message":"gone"},"status":"failed"}}`,
				"tool s.look(/p)\ntool-end failed 1 lines"},
			{`{"type":"item.completed","item":{"id":"i","type":"web_search","query":"how to"}}`,
				"tool WebSearch(how to)\ntool-end"},
			{`{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}`,
				"todo [completed] one [] two"},
			{`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
				`{"type":"item.updated","item":{"id":"i","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
				`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","exit_code":null,"status":"declined"}}`,
				"tool Shell(ls)\ntool-end failed 0 lines"},
			{`{"type":"item.started","item":{"id":"i","type":"agent_message","text":"<response>DONE</response>"}}`, ""},
			{`{"type":"item.completed","item":{"id":"i","type":"error","message":"only a warning"}}`, `noise "only a warning"`},
			{`{"type":"error","message":"it all ended"}`, `result true error 0  "" [it all ended]  $0`},
			{`{"type":"error","message":"first"}` + "\n" + `{"type":"turn.failed","error":{}}`,
				`result true turn.failed 0  "" [first]  $0`},
			{`{"type":"thread.of_the_future"}`, ""},
		},
		"gemini": {
			{`{"type":"message","role":"user","content":"<response>DONE</response>"}`, ""},
			{`{"type":"tool_use","tool_id":"t","tool_name":"write_todos","parameters":{"todos":[{"description":"one","status":"in_progress"},{"description":"two","status":"cancelled"}]}}`,
				"tool write_todos()\ntodo [in_progress] one"},
			{`{"type":"tool_use","tool_id":"t","tool_name":"x","parameters":{}}` + "\n" +
				`{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"gone","message":"no such file"}}`,
				"tool x()\ntool-end failed 1 lines"},
			{`{"type":"result","status":"error"}`, `result true error 0  "" []  $0`},
			{`{"a":1}`, `noise "{\"a\":1}"`},
		},
		"opencode": {
			{`{"type":"reasoning",` + head + `,"part":{"type":"reasoning","text":"<response>DONE</response>"}}`, "session 3"},
			{`{"type":"tool_use",` + head + `,"part":{"callID":"c","tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"one","status":"completed"}]},"output":"[]"}}}`,
				"session 3\ntool todowrite()\ntodo [completed] one\ntool-end"},
			{`{"type":"tool_use",` + head + `,"part":{"callID":"c","tool":"bash","state":{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission"}}}`,
				"session 3\ntool bash(rm x)\ntool-end failed 1 lines"},
			{`{"type":"step_finish",` + head + `,"part":{"reason":"tool-calls"}}`, "session 3"},
			{`{"type":"step_finish",` + head + `,"part":{"reason":"stop"}}` + "\n" + `{"type":"step_start",` + head + `,"part":{}}`, "session 3"},
			{`{"type":"step_finish",` + head + `,"part":{"reason":"content-filter"}}`,
				"session 3\n" + `result true content-filter 0  "" []  $0`},
			{`{"type":"error",` + head + `,"error":{"name":"ProviderModelNotFoundError","data":{}}}`,
				"session 3\n" + `result true error 0 ProviderModelNotFoundError "" [ProviderModelNotFoundError]  $0`},
			{`{"type":"error",` + head + `,"error":"just words"}`, "session 3\n" + `result true error 0  "" [just words]  $0`},
			{`{"type":"of_the_future",` + head + `}`, "session 3"},
			{`{"type":"text","part":{"text":"<response>DONE</response>"}}`,
				`noise "{\"type\":\"text\",\"part\":{\"text\":\"<response>DONE</response>\"}}"`},
		},
	} {
		for _, c := range rows {
			piece := max(7, len(c.in)/1000)
			if got := strings.Join(tellTools(decodeAs(agent, c.in+"\n", piece)), "\n"); got != c.want {
				t.Errorf("%.200s:\n%s, want\n%s", c.in, got, c.want)
			}
		}
	}
}

// Whatever it prints in its format is a sign of life, but for a request that is tried again.
func TestClaudeSignsOfLife(t *testing.T) {
	for in, want := range map[string]stream.Kind{
		`{"type":"system","subtype":"task_progress"}`:  stream.Progress,
		`{"type":"stream_event","event":{}}`:           stream.Progress,
		`{"type":"from_the_future"}`:                   stream.Progress,
		`{"type":"user","message":{"content":"hm"}}`:   stream.Progress,
		`{"type":"system","subtype":"api_retry"}`:      stream.Retry,
		`{"type":"system","subtype":"model_fallback"}`: stream.Retry,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", stream.MaxLine) +
			`"}]}}`: stream.Progress,
	} {
		if got := decodeAs("claude", in+"\n", 1<<20); len(got) != 1 || got[0].Kind != want {
			t.Errorf("%.60s: %q", in, tellAll(got))
		}
	}
}

// BenchmarkClaude decodes 200 MB: a stream of messages and tool results of many sizes, and one line.
func BenchmarkClaude(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("some words of output\n", 400))
	said := `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":` + string(text) + `}]}}` + "\n"
	answered := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":` + string(text) +
		`}]}}` + "\n"
	for name, chunk := range map[string]string{
		"mixed":    strings.Repeat(said+answered+answered+answered, 30),
		"messages": strings.Repeat(said, 100),
		"one line": strings.Repeat("x", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(200 << 20)
			b.ReportAllocs()
			for b.Loop() {
				c := stream.NewClaude(still, func(stream.Event) {})
				for n := 0; n < 200<<20; n += len(chunk) {
					_, _ = c.Write([]byte(chunk))
				}
			}
		})
	}
}
