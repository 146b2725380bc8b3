package stream_test

import (
	"path"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/fake/archive"
)

// own are the formats that only one CLI has.
var own = []string{"codex", "gemini", "opencode"}

// decodeAs decodes what is written in pieces of a size.
func decodeAs(agent, in string, piece int) []stream.Event {
	return decodeWith(decoders[agent], in, piece)
}

// recordings are what the real CLI of that name printed on standard output, by what was tried.
func recordings(t testing.TB, agent string) map[string]string {
	t.Helper()
	recorded := map[string]string{}
	for name, text := range archive.Files(t, "../../../testdata/agents/"+agent+".txtar") {
		if id, ok := strings.CutSuffix(path.Base(name), ".jsonl"); ok {
			recorded[id] = text
		}
	}
	return recorded
}

func recordedBy(t testing.TB, agent, name string) string {
	t.Helper()
	text, known := recordings(t, agent)[name]
	if !known {
		t.Fatalf("there is no recording %s/%s", agent, name)
	}
	return text
}

// What is not of the expected type says nothing, and stops nothing.
func TestDialectsTolerate(t *testing.T) {
	good := map[string]string{
		"codex":    `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"after"}}`,
		"gemini":   `{"type":"message","timestamp":"2026-11-21T03:33:35.682Z","role":"assistant","content":"after","delta":true}`,
		"opencode": `{"type":"text","timestamp":1,"sessionID":"ses","part":{"messageID":"m","type":"text","text":"after"}}`,
	}
	odd := []string{`"x"`, `7`, `null`, `true`, `[]`, `["x"]`, `{}`, `[{"id":{}}]`, `-1e400`,
		`"` + strings.Repeat("y", 5000) + `"`}
	for _, agent := range own {
		for _, value := range odd {
			for _, kind := range append(kinds[agent], `"from the future"`, value) {
				var lines []string
				for _, key := range []string{"item", "part", "error", "stats", "usage", "message", "parameters", "content",
					"output", "timestamp", "sessionID",
					"thread_id", "session_id", "tool_id", "tool_name", "status", "response"} {
					lines = append(lines, `{"type":`+kind+`,"`+key+`":`+value+`,"sessionID":"ses"}`,
						`{"type":`+kind+`,"sessionID":"ses","`+key+`":{"type":`+value+`,"id":`+value+`,"text":`+value+`,"state":`+value+
							`,"tokens":`+value+`,"data":`+value+`,"message":`+value+`}}`)
				}
				events := decodeAs(agent, strings.Join(lines, "\n")+"\n"+good[agent]+"\n", 1<<20)
				seen := false
				for _, e := range events {
					seen = seen || e.Kind == stream.Text && e.Text == "after"
				}
				if !seen {
					t.Fatalf("%s, %s, %s: what came after is lost", agent, kind, value)
				}
			}
		}
	}
}

// kinds are the types of the objects of each format.
var kinds = map[string][]string{
	"codex": {`"thread.started"`, `"turn.started"`, `"item.started"`, `"item.updated"`, `"item.completed"`,
		`"turn.completed"`, `"turn.failed"`, `"error"`},
	"gemini":   {`"init"`, `"message"`, `"tool_use"`, `"tool_result"`, `"error"`, `"result"`},
	"opencode": {`"step_start"`, `"text"`, `"tool_use"`, `"step_finish"`, `"error"`, `"reasoning"`},
}

func FuzzCodex(f *testing.F)    { fuzz(f, "codex") }
func FuzzGemini(f *testing.F)   { fuzz(f, "gemini") }
func FuzzOpencode(f *testing.F) { fuzz(f, "opencode") }
