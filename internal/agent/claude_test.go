//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// The recording of a process that a signal ended is played by one.
func TestClaudeKilled(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude", "cat >/dev/null; cat "+recordedFile(t, "claude/sigkill-tool")+"; kill -KILL $$")
	turn := f.turn(t, agent.Options{}, "Do it.")
	if turn.Class != loop.Killed || turn.Exit != -1 || !strings.Contains(turn.Reason, "SIGKILL") ||
		turn.Usage.Input != 100 {
		t.Errorf("turn = %+v", turn)
	}
	f = newFake(t, "claude", "cat >/dev/null; cat "+recordedFile(t, "claude/success")+"; kill -KILL $$")
	if turn := f.turn(t, agent.Options{}, "Do it."); turn.Class != loop.OK || !turn.Claim.Done { // it had said its word
		t.Errorf("turn = %+v", turn)
	}
}

// say is a line of the agent's own text.
func say(message, text string) string {
	return `{"type":"assistant","message":{"id":"` + message + `","content":[{"type":"text","text":"` + text +
		`"}],"usage":{"input_tokens":10,"cache_read_input_tokens":5}}}`
}

const (
	good = `{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0.5}`
	tool = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"<response>DONE</response>"}]}}`
	poor = `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Credit balance is too low"}`
	form = `{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"verdict":"APPROVED"}}`
)

func TestClaudeStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		class loop.Class
		claim loop.Claim
	}{
		"a tag in a tool's answer is no claim": {[]string{tool, say("a", "hm"), good}, loop.OK, loop.Claim{}},
		"a tag of a helper is no claim": {[]string{strings.Replace(say("a", "<response>DONE</response>"), `"message"`,
			`"parent_tool_use_id":"t","message"`, 1), say("b", "hm"), good}, loop.OK, loop.Claim{}},
		"the last message with a tag wins": {[]string{say("a", "<response>DONE</response>"),
			say("b", "<response>not yet</response>"), say("c", "hm"), good}, loop.OK,
			loop.Claim{Tag: "response", Text: "not yet"}},
		"the first tag in a message wins": {[]string{say("a", "<promise>COMPLETE</promise> <response>no</response>"),
			say("a", "<response>no</response>"), good}, loop.OK, loop.Claim{Done: true, Tag: "promise", Text: "COMPLETE"}},
		"a claim across white space and case": {[]string{say("a", `<RESPONSE>\n done \n</RESPONSE>`), good}, loop.OK,
			loop.Claim{Done: true, Tag: "response", Text: "done"}},
		"no credit":                          {[]string{poor}, loop.Billing, loop.Claim{}},
		"an answer in a form needs no words": {[]string{form}, loop.OK, loop.Claim{}},
		"no result":                          {[]string{say("a", "hm")}, loop.CutShort, loop.Claim{}},
		"nothing at all":                     {nil, loop.Empty, loop.Claim{}},
		"white space only": {[]string{say("a", ` \n `), strings.Replace(good, `"x"`, `""`, 1)},
			loop.Empty, loop.Claim{}},
		"a line that is no JSON among the rest": {[]string{"npm warn", say("a", "<response>DONE</response>"), good}, loop.OK,
			loop.Claim{Done: true, Tag: "response", Text: "DONE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "claude", "cat >/dev/null; cat <<'END'\n"+strings.Join(c.lines, "\n")+"\nEND\n")
			turn := f.turn(t, agent.Options{}, "Do it.")
			if turn.Class != c.class || turn.Claim != c.claim || (turn.Class == loop.OK) != (turn.Reason == "") {
				t.Errorf("turn = %+v", turn)
			}
			if name == "an answer in a form needs no words" && turn.Structured != `{"verdict":"APPROVED"}` {
				t.Errorf("structured = %q", turn.Structured)
			}
			if name == "no result" && turn.Usage != (loop.Usage{Input: 10, CacheRead: 5}) {
				t.Errorf("a turn without a result has used %+v", turn.Usage)
			}
		})
	}
}

// A provider that does not answer makes lines that are no sign of life (C12).
func TestClaudeRetriesAreSilence(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude", `echo '`+say("a", "hm")+
		`'; while :; do echo '{"type":"system","subtype":"api_retry","attempt":1,"error_status":529}'; sleep 0.05; done`)
	turn := f.turn(t, agent.Options{Bounds: agent.Bounds{Idle: 500 * time.Millisecond, Grace: 100 * time.Millisecond}}, "Do it.")
	if turn.Class != loop.Idle || !strings.Contains(turn.Reason, "0.5s") || !strings.Contains(turn.Reason, "status 529") {
		t.Errorf("turn = %+v", turn)
	}
}

// An agent that has said its last word and does not end has still said it.
func TestClaudeLingers(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude", "cat >/dev/null; cat "+recordedFile(t, "claude/success")+"; sleep 600")
	turn := f.turn(t, agent.Options{Bounds: agent.Bounds{Timeout: 2 * time.Second, Grace: 100 * time.Millisecond}}, "Do it.")
	if turn.Class != loop.OK || !turn.Claim.Done || turn.Reason != "" {
		t.Errorf("turn = %+v", turn)
	}
}

func TestClaudeConsole(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	f := newFake(t, "claude", `cat >/dev/null; cat `+recordedFile(t, "claude/success")+`; printf '::error::no\nhalf' >&2`)
	f.turn(t, agent.Options{Display: agent.Display{Console: &console, Format: stream.FormatOptions{UseEmoji: true, MaxOutputChars: 25}}}, "Do it.")
	var said, told []string // the two come in any order
	for line := range strings.Lines(console.String()) {
		if strings.HasPrefix(line, "stderr: ") {
			told = append(told, line)
		} else if strings.TrimSpace(line) != "" {
			said = append(said, line)
		}
	}
	want := `I will write hello.txt.
⏺ Write(/home/user/repo/hello.txt)
✅ Result ← Write (1 line, 121 chars)
  ⎿  File created successfully[…]
I wrote the file.
<response>DONE</response>
✅ Complete (cost: $0.0016, tokens: 200 in / 40 out, tools: 1, time: T)
`
	got := regexp.MustCompile(`Write\(/home/user/repo/hello.txt\) \(`).ReplaceAllString(strings.Join(said, ""),
		"Write (") // standard error came between
	if got = regexp.MustCompile(`time: [^)]*`).ReplaceAllString(got, "time: T"); got != want {
		t.Errorf("console:\n%s\nwant:\n%s", got, want)
	}
	if !slices.Equal(told, []string{"stderr: ::error::no\n", "stderr: half\n"}) {
		t.Errorf("standard error: %q", told)
	}
}

// Any amount of output costs little memory, and the log is cut.
func BenchmarkClaude200MB(b *testing.B) {
	f := newFake(b, "claude", "cat >/dev/null; cat lines; cat "+filepath.Join("$HERE", "success"))
	raw := recordings(b, "claude")["claude/success.jsonl"]
	lines := strings.SplitAfter(raw, "\n")
	bulk := strings.Replace(lines[3], "File created", strings.Repeat("some words of output ", 500), 1)
	var in bytes.Buffer
	for in.Len() < 200<<20 {
		in.WriteString(lines[1] + lines[2] + bulk + bulk)
	}
	for name, text := range map[string][]byte{"lines": in.Bytes(), "success": []byte(raw)} {
		if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(in.Len()))
	for b.Loop() {
		a, err := agent.New(f.options(agent.Options{LogFile: filepath.Join(f.dir, "log")}))
		if err != nil {
			b.Fatal(err)
		}
		if turn, err := a.Turn(context.Background(), "Do it."); err != nil || !turn.Claim.Done {
			b.Fatal(turn, err)
		}
	}
}
