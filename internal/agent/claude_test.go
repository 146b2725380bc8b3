//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

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
		a := must(agent.New(f.options(agent.Options{LogFile: filepath.Join(f.dir, "log")})))
		if turn, err := a.Turn(context.Background(), "Do it."); err != nil || !turn.Claim.Done {
			b.Fatal(turn, err)
		}
	}
}
