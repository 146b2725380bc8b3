package stream_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/stream"
)

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

// Items that no recording has, in the shapes of the CLI's own exec_events.
func TestCodexItems(t *testing.T) {
	for _, c := range []struct{ in, want string }{
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
	} {
		if got := strings.Join(tellTools(decodeAs("codex", c.in+"\n", 7)), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, got, c.want)
		}
	}
}

// A tool's answer over MaxLine still ends the tool.
func TestCodexLongAnswer(t *testing.T) {
	in := `{"type":"item.started","item":{"id":"i","type":"command_execution","command":"cat big"}}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"cat big","aggregated_output":"` +
		strings.Repeat("x", stream.MaxLine) + `"}}` + "\n"
	if got := strings.Join(tellTools(decodeAs("codex", in, 1<<16)), "\n"); got != "tool Shell(cat big)\ntool-end" {
		t.Error(got)
	}
}
