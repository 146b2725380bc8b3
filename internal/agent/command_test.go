//go:build unix

package agent_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// A prompt longer than what is kept of the output is still known when the output begins within it.
func TestCommandEchoesALongPrompt(t *testing.T) {
	t.Parallel()
	var prompt strings.Builder
	for i := range 120_000 {
		prompt.WriteString(strings.Repeat("x", i%7) + " line\n")
	}
	prompt.WriteString("Say <response>DONE</response>.\n")
	turn := newFake(t, "my-agent", `cat "$HERE/stdin"; echo Fine.`).turn(t, agent.Options{}, prompt.String())
	if turn.Class != loop.OK || turn.Claim.Done || turn.Text != "Fine." {
		t.Errorf("class %s, claim %+v, %d bytes of text", turn.Class, turn.Claim, len(turn.Text))
	}
}

func TestCommandConsole(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	f := newFake(t, "my-agent",
		`printf 'one\n\n::set-env name=x::y\n\033[31mred\033[0m\n'; head -c 100000 /dev/zero | tr '\0' z; printf '\nlast'`)
	f.turn(t, agent.Options{Display: agent.Display{Console: &console}}, "Do it.")
	lines := strings.Split(console.String(), "\n")
	if len(lines) != 9 || !slices.Equal(lines[:4], []string{"one", "", ": :set-env name=x::y", "red"}) ||
		lines[5] != "last" || !strings.HasPrefix(lines[7], "[OK] Complete (time: ") {
		t.Errorf("console = %.300q", lines)
	}
	if n := len(lines[4]); n < 1000 || n > 4000 || !strings.HasSuffix(lines[4], "[...]") {
		t.Errorf("a long line has %d bytes: %.40q", n, lines[4])
	}
}

// TestHiddenProgram: the reason of a turn in a sandbox names that.
func TestHiddenProgram(t *testing.T) {
	t.Parallel()
	f := newFake(t, "my-agent", `echo "my-agent: 9: $0: not found" >&2; exit 127`)
	turn := f.turn(t, agent.Options{Host: agent.Host{Box: noBox{}}}, "Do it.")
	if turn.Class != loop.Missing || !strings.Contains(turn.Reason, "if the sandbox hides it") {
		t.Errorf("turn = %+v", turn)
	}
}
