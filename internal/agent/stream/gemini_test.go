package stream_test

import (
	"strings"
	"testing"
)

func TestGeminiObjects(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"type":"message","role":"user","content":"<response>DONE</response>"}`, ""},
		{`{"type":"tool_use","tool_id":"t","tool_name":"write_todos","parameters":{"todos":[{"description":"one","status":"in_progress"},{"description":"two","status":"cancelled"}]}}`,
			"tool write_todos()\ntodo [in_progress] one"},
		{`{"type":"tool_use","tool_id":"t","tool_name":"x","parameters":{}}` + "\n" +
			`{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"gone","message":"no such file"}}`,
			"tool x()\ntool-end failed 1 lines"},
		{`{"type":"result","status":"error"}`, `result true error 0  "" []  $0`},
		{`{"a":1}`, `noise "{\"a\":1}"`},
	} {
		if got := strings.Join(tellTools(decodeAs("gemini", c.in+"\n", 7)), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, got, c.want)
		}
	}
}
