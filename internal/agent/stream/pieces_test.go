package stream_test

import (
	"flag"
	"fmt"
	"path"

	"encoding/json"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
	"golang.org/x/tools/txtar"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
)

// decoders are the agents' formats, by the directory of their recordings.
var decoders = map[string]func(func() time.Time, func(stream.Event)) *stream.Decoder{
	"claude":   stream.NewClaude,
	"amp":      stream.NewClaude,
	"codex":    stream.NewCodex,
	"gemini":   stream.NewGemini,
	"opencode": stream.NewOpencode,
}

// still is a clock that stands.
func still() time.Time { return time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC) }

// decodeWith decodes what is written in pieces of a size.
func decodeWith(create func(func() time.Time, func(stream.Event)) *stream.Decoder, in string,
	piece int) []stream.Event {
	var events []stream.Event
	c := create(still, func(e stream.Event) { events = append(events, e) })
	for ; in != ""; in = in[min(piece, len(in)):] {
		_, _ = c.Write([]byte(in[:min(piece, len(in))]))
	}
	_ = c.Close()
	return events
}

// each calls a test for every recording that tells something.
func each(t *testing.T, test func(t *testing.T, in string, decode func(in string, piece int) []stream.Event)) {
	for name, create := range decoders {
		files := recordings(t, name)
		if len(files) < 10 {
			t.Fatalf("%s has %d recordings", name, len(files))
		}
		for id, raw := range files {
			if first, _, many := strings.Cut(raw, "\n"); !strings.HasPrefix(raw, "{") || many && !json.Valid([]byte(first)) ||
				!strings.HasSuffix(raw, "}\n") {
				continue // it failed before it said anything in its format, or is cut off
			}
			t.Run(name+"/"+id, func(t *testing.T) {
				t.Parallel()
				test(t, raw, func(in string, piece int) []stream.Event { return decodeWith(create, in, piece) })
			})
		}
	}
}

// The same events come whatever the pieces and line ends are.
func TestAnyPieces(t *testing.T) {
	each(t, func(t *testing.T, in string, decode func(string, int) []stream.Event) {
		want := decode(in, len(in))
		for _, e := range want {
			if e.Told || e.Kind == stream.Noise && strings.HasPrefix(e.Text, "{") {
				t.Errorf("%q is not understood", e.Text)
			}
		}
		for how, got := range map[string][]stream.Event{
			"in pieces of 1":     decode(in, 1),
			"in pieces of 7":     decode(in, 7),
			"with CRLF":          decode(strings.ReplaceAll(in, "\n", "\r\n"), 1000),
			"without a last end": decode(strings.TrimSpace(in), 1000),
			"after a mark":       decode("\uFEFF"+in, 3),
			"among blank lines":  decode("\n \n"+strings.ReplaceAll(in, "\n", "\n\n\t\n"), 1000),
		} {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q, want %q", how, tellAll(got), tellAll(want))
			}
		}
	})
}

// What is foreign or broken among the lines changes nothing of the rest.
func TestAnythingBetween(t *testing.T) {
	known := func(events []stream.Event) []stream.Event {
		return slices.DeleteFunc(events,
			func(e stream.Event) bool { return e.Kind == stream.Noise || e.Kind == stream.Progress })
	}
	each(t, func(t *testing.T, in string, decode func(string, int) []stream.Event) {
		want := known(decode(in, len(in)))
		lines := strings.SplitAfter(strings.TrimSpace(in)+"\n", "\n")
		for _, foreign := range []string{
			`{"type":"from_the_future","session_id":"x","text":"<response>DONE</response>"}`, "npm warn deprecated",
			"\xff\xfe\x00\x01 \x1b[31m", "{\"half", "]", "[[", `"`,
			"null", "{}", "[]",
		} {
			if got := known(decode(strings.Join(lines, foreign+"\n"), 1<<20)); !reflect.DeepEqual(got, want) {
				t.Errorf("%.20q: %q, want %q", foreign, tellAll(got), tellAll(want))
			}
		}
		if !strings.HasSuffix(t.Name(), "success") {
			return
		}
		for _, foreign := range []string{"", `["`, `{"x":"`} {
			foreign += strings.Repeat("x", stream.MaxLine)
			if got := known(decode(lines[0]+foreign+"\n"+strings.Join(lines[1:], ""), 1<<20)); !reflect.DeepEqual(got, want) {
				t.Errorf("%.20q: %q, want %q", foreign, tellAll(got), tellAll(want))
			}
		}
		half := lines[len(lines)-2]
		if got := known(decode(in+half[:len(half)/2], 61)); !reflect.DeepEqual(got, want) {
			t.Errorf("half a line at the end: %q, want %q", tellAll(got), tellAll(want))
		}
	})
}

// recorded are recordings with something of each kind.
var recorded = strings.Fields(`claude/success claude/json claude/e401-retries1 claude/max-budget claude/e429sub-oauth
	codex/success codex/bash-fails codex/flaky429 codex/refused-conn codex/max-tokens codex/mcp-bad codex/e529
	gemini/success gemini/two-tools gemini/hooks gemini/refusal gemini/e500 gemini/textout
	opencode/success opencode/bash opencode/bash-fails opencode/max-steps opencode/max-tokens opencode/empty-answer opencode/e429
	opencode/sigterm-tool opencode/sigint-stream opencode/refused-conn`)

var update = flag.Bool("update", false, "write the golden file")

// TestRecorded holds the events of recordings, as testdata/events.txtar has them, which -update writes: when, of which
// message, what, and what it took.
func TestRecorded(t *testing.T) {
	golden := archive.Files(t, "testdata/events.txtar")
	for _, entry := range recorded {
		var got strings.Builder
		for _, e := range decodeAs(path.Dir(entry), recordedBy(t, path.Dir(entry), path.Base(entry)), 1000) {
			line := fmt.Sprintf("%s %s %t %s", e.At.UTC().Format(time.StampMilli), e.Message, e.Delta,
				strings.Join(append(tellTools([]stream.Event{e}), string(e.Kind)), ", "))
			if u := e.Usage.Plus(e.Result.Usage); u != (loop.Usage{}) {
				line += fmt.Sprintf(" %+v", u)
			}
			got.WriteString(line + "\n")
		}
		if *update {
			if err := archive.Put("testdata/events.txtar", entry, txtar.File{Name: entry, Data: []byte(got.String())}); err != nil {
				t.Fatal(err)
			}
		} else if want, known := golden["events/"+entry]; !known || got.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", entry, &got, want)
		}
	}
}

// TestUsage: tokens of thinking are output, and those of the cache are not input.
func TestUsage(t *testing.T) {
	for agent, c := range map[string]struct {
		in   string
		want loop.Usage
	}{
		"codex": {`{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":700,"cache_write_input_tokens":100,"output_tokens":50,"reasoning_output_tokens":30}}`,
			loop.Usage{Input: 200, CacheRead: 700, CacheWrite: 100, Output: 50}},
		"gemini": {`{"type":"result","status":"success","stats":{"total_tokens":1250,"input_tokens":1000,"output_tokens":50,"cached":700,"input":300}}`,
			loop.Usage{Input: 300, CacheRead: 700, Output: 250}},
		"opencode": {`{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"reason":"stop","tokens":{"input":300,"output":50,"reasoning":200,"cache":{"read":700,"write":5}},"cost":1}}`,
			loop.Usage{CostUSD: 1, Input: 300, Output: 250, CacheRead: 700, CacheWrite: 5}},
	} {
		events := decodeAs(agent, c.in, 100)
		if got := events[len(events)-1].Result.Usage; got != c.want {
			t.Errorf("%s: usage = %+v", agent, got)
		}
	}
}

// TestEndless: output without end costs no more memory than MaxLine, and hides nothing that comes after it.
func TestEndless(t *testing.T) {
	const done = `{"type":"result","subtype":"success","usage":{"output_tokens":7}}`
	for name, c := range map[string]struct{ begin, end string }{
		"claude":   {`{"type":"assistant","message":{"content":[{"type":"text","text":"`, "\"}]}}\n" + done},
		"amp":      {"no JSON", "\n" + done},
		"codex":    {`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"`, "\"}}\n" + `{"type":"turn.completed","usage":{"output_tokens":7}}`},
		"gemini":   {`{"type":"message","role":"user","content":"`, "\"}\n" + `{"type":"result","status":"success","stats":{"output_tokens":7}}`},
		"opencode": {`{"type":"text","timestamp":1,"sessionID":"ses","part":{"text":"`, "\"}}\n" + `{"type":"step_finish","timestamp":1,"sessionID":"ses","part":{"id":"p","reason":"stop","tokens":{"output":7}}}`},
	} {
		runtime.GC()
		var last stream.Event
		d := decoders[name](still, func(e stream.Event) { last = e })
		_, _ = d.Write([]byte(c.begin))
		chunk, m := []byte(strings.Repeat("x", 1<<20)), runtime.MemStats{}
		for range 64 {
			_, _ = d.Write(chunk)
			if runtime.ReadMemStats(&m); m.HeapInuse > 64<<20 {
				t.Fatalf("%s: %d bytes are in use", name, m.HeapInuse)
			}
		}
		_, _ = d.Write([]byte(c.end + "\n"))
		if _ = d.Close(); last.Kind != stream.Ended || last.Result.Usage.Output != 7 {
			t.Errorf("%s: last = %s", name, tell(last))
		}
	}
}

func FuzzClaude(f *testing.F) { fuzz(f, "claude") }
func FuzzAmp(f *testing.F)    { fuzz(f, "amp") }

// mostSeed is how long a seed may be: the fuzzer shortens whatever it finds, in a time that grows with the square of
// its length.
const mostSeed = 600

var kindOfLine = regexp.MustCompile(`"(?:type|subtype|name|status)":"[^"]*"`)

// seeds are lines of an agent's recordings, one of each kind.
func seeds(f *testing.F, name string) (lines []string) {
	seen := map[string]bool{}
	recorded := recordings(f, name)
	for _, id := range slices.Sorted(maps.Keys(recorded)) {
		for line := range strings.Lines(recorded[id]) {
			kind := strings.Join(kindOfLine.FindAllString(line, 8), "")
			if len(line) <= mostSeed && kind != "" && !seen[kind] {
				seen[kind], lines = true, append(lines, line)
			}
		}
	}
	if len(lines) < 5 {
		f.Fatalf("of %s only %d lines are short", name, len(lines))
	}
	return lines
}

// fuzz checks that the pieces in which an output comes change nothing, and that nothing panics.
func fuzz(f *testing.F, name string) {
	for i, line := range seeds(f, name) {
		f.Add(line, i+1)
	}
	f.Add("\uFEFF{\r\n}\r\n{\"type\":\"result\"}", 1)
	f.Fuzz(func(t *testing.T, in string, piece int) {
		got, want := decodeWith(decoders[name], in, max(piece, 1)), decodeWith(decoders[name], in, len(in)+1)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: %q, want %q", piece, tellAll(got), tellAll(want))
		}
	})
}
