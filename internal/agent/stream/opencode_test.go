package stream_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestOpencodeRecorded(t *testing.T) {
	for name, want := range map[string][]string{
		"success": {"session 30", `text "I will write hello.txt."`, "tool write(/home/user/repo/hello.txt)", "tool-end",
			`text "I wrote the file.\n<response>DONE</response>"`, `result false stop 0  "" []  $0.0012 2`},
		"bash-fails": {"session 30", "tool bash(echo oops >&2; exit 3)", "tool-end failed 1 lines",
			`text "I wrote the file.\n<response>DONE</response>"`, `result false stop 0  "" []  $0.0012 2`},
		"max-tokens":   {"session 30", `text "an answer that ran out"`, `result true length 0  "" []  $0.0006 1`},
		"empty-answer": {"session 30", `result false stop 0  "" []  $0.0006 1`},
		"e429": {"session 30", "limit retry-after true 2026-11-21T08:00:01Z",
			`result true error 429 APIError "" [This request would exceed your account's rate limit. Please try again later.]  $0 0`},
		"sigterm-tool":  {"session 30", `text "sleeping"`},
		"sigint-stream": {"session 30"},
		"refused-conn": {"session 30",
			`result true error 0 APIError "" [Cannot connect to API: Unable to connect. Is the computer able to access the url?]  $0 0`},
	} {
		got := tellTools(decodeAs("opencode", recordedBy(t, "opencode", name), 1000))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Each step tells what it cost, so that a turn that was killed has cost something too.
func TestOpencodeUsage(t *testing.T) {
	end, steps := usages(decodeAs("opencode", recordedBy(t, "opencode", "success"), 1000))
	if want := (loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}); end != want || steps != want {
		t.Errorf("end %+v, steps %+v", end, steps)
	}
	end, steps = usages(decodeAs("opencode", recordedBy(t, "opencode", "max-steps"), 1000))
	if end != (loop.Usage{}) || steps.Input < 500 || math.IsNaN(steps.CostUSD) {
		t.Errorf("killed: end %+v, steps %+v", end, steps)
	}
	in :=
		`{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"reason":"stop","tokens":{"input":300,"output":50,"reasoning":200,"cache":{"read":700,"write":5}},"cost":1}}`
	if end, _ = usages(decodeAs("opencode", in, 100)); end != (loop.Usage{CostUSD: 1, Input: 300, Output: 250,
		CacheRead: 700, CacheWrite: 5}) {
		t.Errorf("usage = %+v", end)
	}
}

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
			"session 3\n" + `result true content-filter 0  "" []  $0 1`},
		{`{"type":"error",` + head + `,"error":{"name":"ProviderModelNotFoundError","data":{}}}`,
			"session 3\n" + `result true error 0 ProviderModelNotFoundError "" [ProviderModelNotFoundError]  $0 0`},
		{`{"type":"error",` + head + `,"error":"just words"}`, "session 3\n" + `result true error 0  "" [just words]  $0 0`},
		{`{"type":"of_the_future",` + head + `}`, "session 3"},
		{`{"type":"text","part":{"text":"<response>DONE</response>"}}`,
			`noise "{\"type\":\"text\",\"part\":{\"text\":\"<response>DONE</response>\"}}"`},
	} {
		if got := strings.Join(tellTools(decodeAs("opencode", c.in+"\n", 7)), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, got, c.want)
		}
	}
}

// opencode tells of a tool when it is done; when it began stands in it.
func TestOpencodeTimes(t *testing.T) {
	var start, end time.Time
	for _, e := range decodeAs("opencode", recordedBy(t, "opencode", "bash"), 1000) {
		switch e.Kind {
		case stream.ToolStart:
			start = e.At
		case stream.ToolEnd:
			end = e.At
		}
	}
	if end.Sub(start) != 458*time.Millisecond || !start.Equal(time.UnixMilli(1795232617819)) {
		t.Errorf("from %s to %s", start, end)
	}
}
