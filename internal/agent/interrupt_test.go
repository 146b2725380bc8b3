//go:build unix

package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestInterrupted: claude is interrupted before it is ended, and says what it has spent; the turn does not count all
// the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude",
		`trap 'echo "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"total_cost_usd\":0.25,\"session_id\":\"s\"}"; exit 0' INT
touch "$HERE/ready"; while :; do sleep 0.05; done`)
	a, err := agent.New(f.options(agent.Options{Bounds: agent.Bounds{Timeout: time.Minute, Grace: 40 * time.Second}}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for range 1000 {
			if _, err := os.Stat(filepath.Join(f.dir, "ready")); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	turn, err := a.Turn(ctx, "Do it.")
	if err != nil || turn.Class != loop.Stopped || turn.Usage.CostUSD != 0.25 {
		t.Errorf("%+v, %v", turn, err)
	}
	// which are why it ended, not its last words
	for _, o := range []agent.Options{
		{Bounds: agent.Bounds{Timeout: 500 * time.Millisecond}}, {Bounds: agent.Bounds{Idle: 500 * time.Millisecond}},
	} {
		want := loop.TimedOut
		if o.Idle > 0 {
			want = loop.Idle
		}
		if turn := f.turn(t, o, "Do it."); turn.Class != want || turn.Usage.CostUSD != 0.25 {
			t.Errorf("%+v, want class %s", turn, want)
		}
	}
}
