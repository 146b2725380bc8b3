package stream_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestGeminiRecorded(t *testing.T) {
	const answer = `text "I wrote the file.\n<respo"` + "\n" + `text "nse>DONE</response>"`
	for name, want := range map[string][]string{
		"success": {"session 36", `text "I will write hello.txt."`, "tool write_file(hello.txt)", "tool-end", answer,
			`result false success 0  "" []  $0 0`},
		"two-tools": {"session 36", "tool write_file(a.txt)", "tool write_file(b.txt)", "tool-end", "tool-end", answer,
			`result false success 0  "" []  $0 0`},
		"hooks": {"session 36", `text "I will write hello.txt."`, "tool write_file(hello.txt)", "tool-end", answer,
			`noise "Agent execution blocked: Harness says: run the tests before you stop."`, answer,
			`result false success 0  "" []  $0 0`},
		"refusal": {"session 36", `result true error 0  "" [The model response was blocked due to safety settings.]  $0 0`},
		"e500": {"session 36",
			`result true error 500 unknown "" [[API Error: {"error":{"code":500,"message":"Internal server error","status":"INTERNAL"}}]]  $0 0`},
		"textout": {`noise "I will write hello.txt."`, `noise "I wrote the file."`, `noise "<response>DONE</response>"`,
			`text "I will write hello.txt.\nI wrote the file.\n<response>DONE</response>\n"`},
	} {
		got := tellTools(decodeAs("gemini", recordedBy(t, "gemini", name), 1000))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// The pieces of a message share its number, and what comes after a tool or a notice is of another.
func TestGeminiMessages(t *testing.T) {
	var ids []string
	for _, e := range decodeAs("gemini", recordedBy(t, "gemini", "hooks"), 1000) {
		if e.Kind == stream.Text {
			ids = append(ids, e.Message)
			if !e.Delta {
				t.Errorf("%q is no piece", e.Text)
			}
		}
	}
	if got := strings.Join(ids, " "); got != "1 2 2 3 3" {
		t.Errorf("messages = %s", got)
	}
}

func TestGeminiUsage(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want loop.Usage
	}{
		"recorded": {recordedBy(t, "gemini", "success"), loop.Usage{Input: 200, Output: 40}},
		"thinking and cached": {`{"type":"result","status":"success","stats":{"total_tokens":1250,"input_tokens":1000,"output_tokens":50,"cached":700,"input":300}}`,
			loop.Usage{Input: 300, CacheRead: 700, Output: 250}},
	} {
		if end, _ := usages(decodeAs("gemini", c.in, 100)); end != c.want {
			t.Errorf("%s: usage = %+v", name, end)
		}
	}
}

func TestGeminiObjects(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"type":"message","role":"user","content":"<response>DONE</response>"}`, ""},
		{`{"type":"tool_use","tool_id":"t","tool_name":"write_todos","parameters":{"todos":[{"description":"one","status":"in_progress"},{"description":"two","status":"cancelled"}]}}`,
			"tool write_todos()\ntodo [in_progress] one"},
		{`{"type":"tool_use","tool_id":"t","tool_name":"x","parameters":{}}` + "\n" +
			`{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"gone","message":"no such file"}}`,
			"tool x()\ntool-end failed 1 lines"},
		{`{"type":"result","status":"error"}`, `result true error 0  "" []  $0 0`},
		{`{"a":1}`, `noise "{\"a\":1}"`},
	} {
		if got := strings.Join(tellTools(decodeAs("gemini", c.in+"\n", 7)), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, got, c.want)
		}
	}
}

func TestGeminiTimes(t *testing.T) {
	events := decodeAs("gemini", recordedBy(t, "gemini", "success"), 1000)
	if got, want := events[0].At, time.Date(2026, 11, 21, 3, 33, 35, 682_000_000, time.UTC); !got.Equal(want) {
		t.Errorf("at %s", got)
	}
}
