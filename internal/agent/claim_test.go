package agent_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// told is a turn of gemini, whose messages come in pieces.
func told(t testing.TB, pieces []string) loop.Turn {
	t.Helper()
	var out strings.Builder
	for _, p := range pieces {
		line := must(json.Marshal(map[string]any{"type": "message", "role": "assistant", "content": p, "delta": true}))
		out.Write(line)
		out.WriteByte('\n')
	}
	turn, err := agent.Replay(agent.Options{Command: "gemini", Answer: agent.Answer{Completion: "DONE"}},
		agent.Recording{Stdout: strings.NewReader(out.String()), Stderr: strings.NewReader("")})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// The pieces in which a message comes change nothing of what it claims.
func TestClaimInPieces(t *testing.T) {
	t.Parallel()
	parts := []string{"<response>", "</response>", "<promise>", "</PROMISE>", "DONE", "complete", "<", "</", ">", "respon",
		"se>", "\n", " no. ", "é", "<Response>", "</", "`", "```", "\n\n- **", "<question>"}
	for range 500 {
		var whole strings.Builder
		for range rand.IntN(12) {
			whole.WriteString(parts[rand.IntN(len(parts))])
		}
		var pieces []string
		for rest := []rune(whole.String()); len(rest) > 0; {
			n := 1 + rand.IntN(min(len(rest), 9))
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		want, _ := loop.ReadClaim(whole.String(), "DONE")
		if got := told(t, pieces).Claim; got != want {
			t.Fatalf("%q: %+v, want %+v", pieces, got, want)
		}
	}
}

// A message whose every piece seems to close a tag is read once, not again with every piece: else this would take
// minutes.
func TestClaimInHostilePieces(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"</>", "<response>", "`"} {
		pieces := []string{strings.Repeat("<respons>.", 10_000)}
		for range 20_000 {
			pieces = append(pieces, piece)
		}
		if turn := told(t, append(pieces, "\n<response>DONE</response>")); !turn.Claim.Done {
			t.Errorf("%s: %+v", piece, turn.Claim)
		}
	}
}
