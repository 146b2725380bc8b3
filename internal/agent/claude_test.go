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

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
)

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
