package stream_test

import (
	"strings"
	"testing"
)

func TestOpencodeObjects(t *testing.T) {
	const head = `"timestamp":1795232636079,"sessionID":"ses"`
	for _, c := range []struct{ in, want string }{
		{`{"type":"reasoning",` + head + `,"part":{"type":"reasoning","text":"<response>DONE</response>"}}`, "session 3"},
		{`{"type":"tool_use",` + head +
			`,"part":{"callID":"c","tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"one","status":"completed"}]},"output":"[]"}}}`,
			"session 3\ntool todowrite()\ntodo [completed] one\ntool-end"},
		{`{"type":"tool_use",` + head +
			`,"part":{"callID":"c","tool":"bash","state":{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission"}}}`,
			"session 3\ntool bash(rm x)\ntool-end failed 1 lines"},
		{`{"type":"step_finish",` + head + `,"part":{"reason":"tool-calls"}}`, "session 3"},
		{`{"type":"step_finish",` + head + `,"part":{"reason":"stop"}}` + "\n" + `{"type":"step_start",` + head +
			`,"part":{}}`, "session 3"},
		{`{"type":"step_finish",` + head + `,"part":{"reason":"content-filter"}}`,
			"session 3\n" + `result true content-filter 0  "" []  $0`},
		{`{"type":"error",` + head + `,"error":{"name":"ProviderModelNotFoundError","data":{}}}`,
			"session 3\n" + `result true error 0 ProviderModelNotFoundError "" [ProviderModelNotFoundError]  $0`},
		{`{"type":"error",` + head + `,"error":"just words"}`, "session 3\n" + `result true error 0  "" [just words]  $0`},
		{`{"type":"of_the_future",` + head + `}`, "session 3"},
		{`{"type":"text","part":{"text":"<response>DONE</response>"}}`,
			`noise "{\"type\":\"text\",\"part\":{\"text\":\"<response>DONE</response>\"}}"`},
	} {
		if got := strings.Join(tellTools(decodeAs("opencode", c.in+"\n", 7)), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, got, c.want)
		}
	}
}
