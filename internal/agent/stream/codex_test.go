package stream_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestCodexRecorded(t *testing.T) {
	for name, want := range map[string][]string{
		"success": {"session 36", `text "I will write hello.txt."`, `tool Shell(printf '%s' 'hello world ' > hello.txt)`,
			"tool-end",
			`text "I wrote the file.\n<response>DONE</response>"`, `result false turn.completed 0  "" []  $0 0`},
		"bash-fails": {"session 36", `tool Shell(echo oops >&2; exit 3)`, "tool-end failed 1 lines",
			`text "I wrote the file.\n<response>DONE</response>"`, `result false turn.completed 0  "" []  $0 0`},
		"flaky429": {"session 36", "retry 1/5 429", "retry 2/5 429", `text "I will write hello.txt."`,
			`tool Shell(printf '%s' 'hello world ' > hello.txt)`, "tool-end",
			`text "I wrote the file.\n<response>DONE</response>"`,
			`result false turn.completed 0  "" []  $0 0`},
		"refused-conn": {"session 36", "retry 0/0 0", "retry 0/0 0", "retry 0/0 0", "retry 0/0 0", "retry 0/0 0"},
		"max-tokens": {"session 36", `text "an answer that ran out"`,
			`result true turn.failed 0  "" [Incomplete response returned, reason: max_output_tokens]  $0 0`},
		"mcp-bad": {"session 36", `text "<response>DONE</response>"`, `result false turn.completed 0  "" []  $0 0`},
		"e529": {"session 36", "retry 1/1 529",
			`result true turn.failed 529  "" [unexpected status 529 <unknown status code>: ` +
				`Overloaded, url: http://127.0.0.1:18080/s/e529/v1/responses, request id: req_fake00119]  $0 0`},
	} {
		got := tellTools(decodeAs("codex", recordedBy(t, "codex", name), 1000))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
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
			"todo [completed] one [pending] two"},
		{`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
			`{"type":"item.updated","item":{"id":"i","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
			`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","exit_code":null,"status":"declined"}}`,
			"tool Shell(ls)\ntool-end failed 0 lines"},
		{`{"type":"item.started","item":{"id":"i","type":"agent_message","text":"<response>DONE</response>"}}`, ""},
		{`{"type":"item.completed","item":{"id":"i","type":"error","message":"only a warning"}}`, `noise "only a warning"`},
		{`{"type":"error","message":"it all ended"}`, `result true error 0  "" [it all ended]  $0 0`},
		{`{"type":"error","message":"first"}` + "\n" + `{"type":"turn.failed","error":{}}`,
			`result true turn.failed 0  "" [first]  $0 0`},
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

// What codex calls input and output has the cache's tokens and those of thinking in it.
func TestCodexUsage(t *testing.T) {
	in :=
		`{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":700,"cache_write_input_tokens":100,"output_tokens":50,"reasoning_output_tokens":30}}`
	if end, _ := usages(decodeAs("codex", in, 100)); end != (loop.Usage{Input: 200, CacheRead: 700, CacheWrite: 100,
		Output: 50}) {
		t.Errorf("usage = %+v", end)
	}
}

// Ids without end are not all remembered.
func TestCodexManyTools(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		b.WriteString(`{"type":"item.started","item":{"id":"` + strings.Repeat("i", i%200) + string(rune('0'+i%10)) +
			`","type":"command_execution","command":"ls"}}` + "\n")
	}
	if n := len(decodeAs("codex", b.String(), 1<<20)); n < 200 {
		t.Errorf("%d events", n)
	}
}
